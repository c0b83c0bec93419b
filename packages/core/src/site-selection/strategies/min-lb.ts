import type { Strategy } from '../strategy.ts';

/** The least lower bound of the end: work asked for per processor. @source gonzalez2010, Eq. 6. */
export const minLb: Strategy<3> = {
  name: 'min-lb',
  level: 3,
  evaluate: ({ workSum, processors }) => workSum / processors,
};
