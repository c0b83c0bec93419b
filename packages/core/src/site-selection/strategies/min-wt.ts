import type { Strategy } from '../strategy.ts';

/** The least mean wait. @source gonzalez2010, Eq. 9. */
export const minWt: Strategy<4> = {
  name: 'min-wt',
  level: 4,
  evaluate: ({ turnarounds, walltimes, taskCount }) => (turnarounds - walltimes) / taskCount,
};
