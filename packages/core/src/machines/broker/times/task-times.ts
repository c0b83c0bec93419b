import { freeProcessors, type TaskNeeds } from '../../../bag/index.ts';
import type { Duration, Instant } from '../../../shared/index.ts';
import { expectedRemainingOn, expectedTotalOn, quantileOn } from '../../../times/index.ts';
import type { BrokerJob, BrokerMachine, BrokerReplica, OpenTask } from '../state.ts';

/**
 * How much longer a replica of the job that runs for `elapsed` on the machine runs there, on average; undefined before
 * any time is known.
 */
export function expectedRemaining(
  { times }: BrokerJob,
  elapsed: Duration,
  { slowness }: BrokerMachine,
): Duration | undefined {
  return expectedRemainingOn(times, slowness, elapsed);
}

/** How long a task of the job takes on the machine, on average; undefined before any time is known. */
export function expectedTime(job: BrokerJob, machine: BrokerMachine): Duration | undefined {
  return expectedRemaining(job, 0, machine);
}

/**
 * The time within which a share of the job's tasks end on the machine, of those that ran there for `elapsed`; undefined
 * where not known.
 */
export function timeQuantile(
  { times }: BrokerJob,
  { slowness }: BrokerMachine,
  asked: { readonly share: number; readonly elapsed: Duration },
): Duration | undefined {
  return quantileOn(times, slowness, asked);
}

/** How much longer a replica is expected to run, as counted from its placing; undefined before any time is known. */
export function expectedRest({ job, machine, dispatchedAt }: BrokerReplica, now: Instant): Duration | undefined {
  return expectedRemaining(job, Math.max(0, now - dispatchedAt), machine);
}

/**
 * When the first of its replicas is expected to end; Infinity before any time is known. Between two events it never
 * comes nearer.
 */
export function expectedEnd({ replicas }: OpenTask, now: Instant): Instant {
  let first = Infinity;
  for (const {
    job: { times },
    machine: { slowness },
    dispatchedAt,
  } of replicas) {
    const total = expectedTotalOn(times, slowness, Math.max(0, now - dispatchedAt));
    if (total !== undefined) first = Math.min(first, dispatchedAt + total);
  }
  return first;
}

/** In how long the first of its replicas is expected to end; undefined as above. */
export function getRemaining({ replicas }: OpenTask, now: Instant): Duration | undefined {
  let least: Duration | undefined;
  for (const replica of replicas) {
    const rest = expectedRest(replica, now);
    if (rest !== undefined && (least === undefined || rest < least)) least = rest;
  }
  return least;
}

/** The most places of one machine that are considered. */
const placesMax = 4096;

/**
 * In how long each place for a task with such needs at a machine is expected to be free, ascending: 0 for those that
 * are; for the others as the replicas there are expected to end, one after the other. Replicas of which nothing is
 * known stay for ever.
 */
export function waitsAt(
  machine: BrokerMachine,
  { processors, resources }: TaskNeeds,
  now: Instant,
  getRest: (replica: BrokerReplica, now: Instant) => Duration | undefined = expectedRest,
): Duration[] {
  const ends = listEnds(machine, now, getRest);
  const waits: Duration[] = [];
  let free = freeProcessors(machine);
  const left = copyFree(machine, resources);
  for (const end of [{ after: 0, processors: 0, assignment: undefined }, ...ends]) {
    free += end.processors;
    if (end.assignment !== undefined) left?.release(end.assignment);
    while (free >= processors && waits.length < placesMax) {
      if (resources !== undefined && left?.take(resources) === undefined) break;
      waits.push(end.after);
      free -= processors;
    }
  }
  return waits;
}

function copyFree(
  { resources: free }: BrokerMachine,
  asked: TaskNeeds['resources'],
): BrokerMachine['resources'] | undefined {
  return asked === undefined ? undefined : free.clone();
}

/** When replicas of a machine end, the first before the others, and what comes free with each. */
function listEnds(
  { replicas }: BrokerMachine,
  now: Instant,
  getRest: (replica: BrokerReplica, now: Instant) => Duration | undefined,
): (Pick<BrokerReplica, 'processors' | 'assignment'> & { readonly after: Duration })[] {
  const ends = [...replicas.values()].map((replica) => ({
    after: getRest(replica, now) ?? Infinity,
    processors: replica.processors,
    assignment: replica.assignment,
  }));
  return ends.sort((one, other) => one.after - other.after);
}
