import type { ProviderChange } from './changes.ts';

const durableKinds: ReadonlySet<ProviderChange['kind']> = new Set([
  'ProviderFounded',
  'RequestDrafted',
  'RequestSubmitting',
  'ClockSetBack',
  'ClockStepped',
  'HeuristicSwitched',
  'DrainingBegan',
  'DrainingEnded',
  'LeaseTaken',
  'ReportSpooled',
]);

/**
 * Whether a change must be on the disk, not only in the system's cache, before anything follows from it.
 *
 * A request that the manager may have must not be forgotten, nor a number that brokers know, which must not be given
 * again; nor a promise to the user, a lease that replaced another in the spool, or a report that its agent may forget.
 * The submissions and withdrawals of the last hour, and steps of the clock since, limit the next ones. All else is
 * found out again after the whole machine has crashed.
 */
export function isDurable(change: ProviderChange): boolean {
  return durableKinds.has(change.kind) || (change.kind === 'RequestReleasing' && change.isGivenUp === true);
}
