import type { Strategy } from '../strategy.ts';

/** The least mean of turnarounds weighted by width. @source gonzalez2010, Eq. 14. */
export const minWta: Strategy<4> = {
  name: 'min-wta',
  level: 4,
  evaluate: ({ weightedTurnarounds, taskCount }) => weightedTurnarounds / taskCount,
};
