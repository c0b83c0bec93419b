import type { Strategy } from '../strategy.ts';

/** The least mean of waits weighted by width. @source gonzalez2010, Eq. 10. */
export const minWwt: Strategy<4> = {
  name: 'min-wwt',
  level: 4,
  evaluate: ({ weightedTurnarounds, workSum, taskCount }) => (weightedTurnarounds - workSum) / taskCount,
};
