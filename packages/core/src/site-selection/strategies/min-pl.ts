import type { Strategy } from '../strategy.ts';

/** The least parallel load: widths of tasks per processor. @source gonzalez2010, Eq. 4. */
export const minPl: Strategy<2> = {
  name: 'min-pl',
  level: 2,
  evaluate: ({ widthSum, processors }) => widthSum / processors,
};
