import type { ReplicaEnd } from '../messages/index.ts';
import type { Duration, Instant } from '../shared/index.ts';
import { faultOfCode } from './faults.ts';
import { isShutdown } from './counted-ends.ts';

/** When a machine that breaks replicas is left alone, and how long. */
export interface QuarantineRules {
  /** Breakages in a row that begin a quarantine. */
  readonly breakagesMax: number;
  /** Length of the first; each further one is twice as long. */
  readonly first: Duration;
  readonly longest: Duration;
}

/** Usual rules. */
export const quarantineDefaults: QuarantineRules = { breakagesMax: 3, first: 10_000, longest: 600_000 };

/** Why a machine broke what its disk had no room for. */
export const noSpace = 'MUT_NO_SPACE';

/**
 * What the ends in a report say of their machine: it ended something by itself, it broke all of them, its disk was
 * full, they went wrong for a reason that may be the
 * task's as well, or they say nothing.
 */
export type ReportHealth = 'sound' | 'broken' | 'full' | 'doubted' | 'silent';

/** What is known of the health of a machine. */
export interface MachineHealth {
  /** Reports with broken replicas since the last replica that ended otherwise. */
  breakages: number;
  /** It gets nothing before. */
  quarantinedUntil: Instant;
}

/** What the ends in a report say of the machine that made it. */
export function getHealth(ends: readonly Pick<ReplicaEnd, 'outcome' | 'reason'>[]): ReportHealth {
  if (ends.some(({ outcome }) => outcome !== 'broken' && outcome !== 'cancelled')) return 'sound';
  const broken = ends.filter(({ outcome, reason }) => outcome === 'broken' && !isShutdown(reason));
  const blaming = broken.filter(({ reason }) => faultOfCode(reason) === 'machine');
  if (blaming.length > 0) return blaming.every(({ reason }) => reason === noSpace) ? 'full' : 'broken';
  return broken.some(({ reason }) => faultOfCode(reason) === 'unknown') ? 'doubted' : 'silent';
}

/**
 * Quarantines a machine whose reports have only broken replicas, longer each time.
 *
 * Counts reports, because one cause breaks all replicas that a machine has at once. A machine with a full disk is
 * quarantined at once, each time for the same duration: it works again as soon as it has space.
 */
export function noteHealth(
  machine: MachineHealth,
  health: ReportHealth,
  { rules, now }: { readonly rules: QuarantineRules; readonly now: Instant },
): void {
  if (health === 'sound') machine.breakages = 0;
  if (health !== 'broken' && health !== 'full') return;
  if (health === 'broken') machine.breakages += 1;
  const time = health === 'full' ? rules.first : quarantineTime(machine.breakages, rules);
  if (time > 0) machine.quarantinedUntil = now + time;
}

/** How long a machine is quarantined after a number of breakages in a row; 0 while it is not. */
export function quarantineTime(breakages: number, rules: QuarantineRules): Duration {
  if (breakages < rules.breakagesMax) return 0;
  const doublings = Math.min(30, breakages - rules.breakagesMax);
  return Math.min(rules.longest, rules.first * 2 ** doublings);
}
