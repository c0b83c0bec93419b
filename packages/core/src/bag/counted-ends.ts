import { faultOfCode } from './faults.ts';

const shutdownReasons: ReadonlySet<string> = new Set([
  'MUT_AGENT_STOPPED',
  'MUT_ALLOCATION_ENDED',
  'MUT_DRAINING',
  'MUT_MACHINE_LEFT',
  'MUT_MACHINE_MOVED',
  'MUT_MACHINE_QUARANTINED',
  'MUT_RELEASED',
]);

/**
 * Whether a replica ended because its machine was taken away: a preemption, a cancelled allocation, a host that was
 * shut down, a provider that drains.
 *
 * That says nothing about the task, and nothing about the health of the machine. A walltime is not among them: a task
 * that is longer than every walltime must not run for ever. Nor is a machine that left without a report, because the
 * task may have caused that.
 */
export function isShutdown(reason: string): boolean {
  return shutdownReasons.has(reason);
}

/** Whether an ending counts towards the losses after which a task is given up: a shutdown or a preemption does not. */
export function isCountedLoss({
  disposition,
  reason,
}: {
  readonly disposition: string;
  readonly reason: string;
}): boolean {
  return disposition === 'lost' && !isShutdown(reason);
}

/**
 * Whether a replica was lost because its machine left without giving a reason.
 *
 * For a machine of an allocation, the end of the allocation gives the reason, but it is reported later: a manager that
 * preempts by SIGKILL looks like a task that ended its agent.
 */
export function isSilentLoss({
  outcome,
  disposition,
  reason,
}: {
  readonly outcome: string | undefined;
  readonly disposition: string;
  readonly reason: string;
}): boolean {
  return disposition === 'lost' && outcome === undefined && reason === silentLoss;
}

/** The code of a machine that went away without a word. */
export const silentLoss = 'MUT_MACHINE_LOST';

/** Whether a shutdown or a preemption ended a replica that ran. */
export function isStop({
  disposition,
  reason,
  startedAt,
}: {
  readonly disposition: string;
  readonly reason: string;
  readonly startedAt: number;
}): boolean {
  return disposition === 'lost' && startedAt > 0 && isShutdown(reason);
}

/** Whether a replica ended for a reason that may be its task's fault or its machine's. */
export function isDoubted({
  outcome,
  reason,
  disposition,
}: {
  readonly outcome: string | undefined;
  readonly reason: string;
  readonly disposition: string;
}): boolean {
  return disposition === 'lost' && outcome === 'broken' && faultOfCode(reason) === 'unknown' && !isShutdown(reason);
}
