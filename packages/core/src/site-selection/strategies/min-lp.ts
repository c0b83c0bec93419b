import type { Strategy } from '../strategy.ts';

/** The least number of tasks per processor. @source gonzalez2010, Eq. 3. */
export const minLp: Strategy<1> = {
  name: 'min-lp',
  level: 1,
  evaluate: ({ taskCount, processors }) => taskCount / processors,
};
