import type { Duration, Instant } from '../../../shared/index.ts';
import { compareRun, type ComparedRun } from '../../../times/index.ts';
import type { ChangeOf, ReplicaEnding } from '../changes.ts';
import { isFollower } from '../gangs/gang.ts';
import type { BrokerJob, BrokerMachine, BrokerState } from '../state.ts';
import { observeMemory } from './observe-memory.ts';

/** Learns from ends how long the job's tasks take, and how fast the machine is. */
export function observeTimes(state: BrokerState, job: BrokerJob, change: ChangeOf<'ReplicasEnded'>): void {
  // A follower lasts as long as its leader, and adds no information.
  const endings = change.endings.filter(({ replicaId }) => !isFollower(state.replicas.get(replicaId) ?? {}));
  const runs = endings.map((ending) => runOf(ending, change, state.machines.get(change.machineId)));
  for (const ending of endings) observeMemory(job, ending);
  const machine = state.machines.get(change.machineId);
  // All are compared with what was known before: a machine must not be measured by its own runs, if there are others.
  if (machine !== undefined) for (const run of runs) if (run !== undefined) compareOn(machine, job, run);
  for (const run of runs) {
    if (run === undefined) continue;
    const curves = machine === undefined ? [job.times] : [job.times, machine.times];
    for (const curve of curves) {
      if (run.isCensored) curve.addCensored(run.time);
      else curve.add(run.time);
    }
  }
}

function compareOn(machine: BrokerMachine, job: BrokerJob, run: ComparedRun): void {
  machine.slowness = compareRun(machine.slowness, run, job.times);
}

/** What an ending shows of how long its task takes; undefined if that is nothing, as for one that failed on its own. */
function runOf(
  ending: ReplicaEnding,
  { at, silentSince }: ChangeOf<'ReplicasEnded'>,
  machine: BrokerMachine | undefined,
): ComparedRun | undefined {
  if (ending.startedAt === 0) return undefined;
  const reported = Math.max(0, ending.endedAt - ending.startedAt);
  if (ending.outcome === 'succeeded') return { time: reported, isCensored: false };
  if (!isCutOff(ending)) return undefined;
  const received = lastReceived({ at, silentSince, until: machine?.facts.until }) - ending.dispatchedAt;
  const time = Math.min(reported, received);
  return time > 0 ? { time, isCensored: true } : undefined;
}

/**
 * Whether a replica would have run on, had it been let: its machine or its sibling ended it, or a limit on its time.
 */
function isCutOff({ outcome, reason, disposition }: ReplicaEnding): boolean {
  switch (outcome) {
    case undefined:
      return disposition !== 'failed';
    case 'cancelled':
      return true;
    case 'limited':
      return reason === 'MUT_RUN_TIME_MAX';
    default:
      return false;
  }
}

/**
 * Until when a replica is known to have been there: not beyond the end of its allocation, and not while its machine was
 * silent.
 */
function lastReceived(times: {
  readonly at: Instant;
  readonly silentSince: Instant | undefined;
  readonly until: Instant | undefined;
}): Duration {
  return Math.min(times.at, times.silentSince ?? times.at, times.until ?? times.at);
}
