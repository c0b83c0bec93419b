import { invariant } from '../shared/index.ts';

/** The bounds of Theorem 1 for one a: each case of it, and the one for all cases. */
export interface CompetitiveBound {
  /** 1 + 4 / a^2, for a at most m(f(d), m) / m(f(b), m). */
  readonly below: number;
  /** 1 + 4 / (a (1 - a)), for a greater a. */
  readonly above: number;
  /** The larger of them: 17 at a = 0.5, the least there is. */
  readonly worst: number;
}

/**
 * How far from the optimal makespan Min_LB may be with the best local scheduler. Infinity where there is no bound.
 *
 * @param admissibility a, in 0..1. @throws {InvariantError} for one out of that range. @source gonzalez2010, Eq. 1.
 */
export function getBound(admissibility: number): CompetitiveBound {
  invariant(admissibility >= 0 && admissibility <= 1, `admissibility is ${admissibility}; expected 0..1`);
  const below = 1 + 4 / admissibility ** 2;
  const above = 1 + 4 / (admissibility * (1 - admissibility));
  return { below, above, worst: Math.max(below, above) };
}
