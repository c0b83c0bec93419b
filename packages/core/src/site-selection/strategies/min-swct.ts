import type { Strategy } from '../strategy.ts';

/** The least sum of ends weighted by width. @source gonzalez2010, Eq. 8. */
export const minSwct: Strategy<4> = {
  name: 'min-swct',
  level: 4,
  evaluate: ({ weightedEnds }) => weightedEnds,
};
