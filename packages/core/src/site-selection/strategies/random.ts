import type { Strategy } from '../strategy.ts';

/** Any admissible resource, all equally likely. @source gonzalez2010, Eq. 2. */
export const random: Strategy<0> = {
  name: 'random',
  level: 0,
  evaluate: (_, { prng }) => prng.fraction(),
};
