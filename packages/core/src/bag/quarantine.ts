import type { Duration } from '../shared/index.ts';

/** When a machine that breaks replicas is left alone, and how long. */
export interface QuarantineRules {
  /** Breakages in a row that begin a quarantine. */
  readonly breakagesMax: number;
  /** Length of the first; each further one is twice as long. */
  readonly first: Duration;
  readonly longest: Duration;
}

/** How long a machine is left alone after so many breakages in a row; 0 as long as it is not. */
export function quarantineTime(breakages: number, rules: QuarantineRules): Duration {
  if (breakages < rules.breakagesMax) return 0;
  const doublings = Math.min(30, breakages - rules.breakagesMax);
  return Math.min(rules.longest, rules.first * 2 ** doublings);
}
