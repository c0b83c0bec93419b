import type { Strategy } from '../strategy.ts';

/** The least mean of turnarounds weighted by work. @source gonzalez2010, Eq. 15. */
export const minWwota: Strategy<4> = {
  name: 'min-wwota',
  level: 4,
  evaluate: ({ workedTurnarounds, taskCount }) => workedTurnarounds / taskCount,
};
