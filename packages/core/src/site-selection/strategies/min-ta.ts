import type { Strategy } from '../strategy.ts';

/** The least mean turnaround. @source gonzalez2010, Eq. 13. */
export const minTa: Strategy<4> = {
  name: 'min-ta',
  level: 4,
  evaluate: ({ turnarounds, taskCount }) => turnarounds / taskCount,
};
