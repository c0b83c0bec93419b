import type { Strategy } from '../strategy.ts';

/** The least utilisation until the last end. @source gonzalez2010, Eq. 11. */
export const minU: Strategy<4> = {
  name: 'min-u',
  level: 4,
  evaluate: ({ workSum, lastEnd, processors }) => workSum / (lastEnd * processors),
};
