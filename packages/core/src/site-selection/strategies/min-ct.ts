import type { Strategy } from '../strategy.ts';

/** The earliest end of all that is assigned. @source gonzalez2010, Eq. 7. */
export const minCt: Strategy<4> = {
  name: 'min-ct',
  level: 4,
  evaluate: ({ lastEnd }) => lastEnd,
};
