import { isOfReservation, type JobDependency } from '../../messages/index.ts';
import { countIn, IndexSet, invariant } from '../../shared/index.ts';
import { checkGangs } from './gangs/check-gangs.ts';
import { listPredecessors } from './workflow/dependencies.ts';
import { isFollower } from './gangs/gang.ts';
import { getPresence } from './ledger/ledger-accounts.ts';
import { checkResources } from './machines/machine-resources.ts';
import { findLeasedTask, unconfirmedMax } from './leases/leases.ts';
import type {
  BrokerJob,
  BrokerMachine,
  BrokerProvider,
  BrokerReplica,
  BrokerState,
  OpenTask,
  Success,
} from './state.ts';
import { countReady, isReadyOrParked } from './jobs/ready-tasks.ts';
import { isDecided } from './jobs/follow-dependencies.ts';
import { isEarly, isGated, isWhollyGated } from './jobs/gates.ts';
import { isServedBefore } from './jobs/serving-order.ts';
import { checkAssignments } from './site-selection/assigned-tasks.ts';
import type { TrustRecord } from './trust/trust-evidence.ts';
import { getIdentity } from './trust/trust-records.ts';
import { isVotedOn, getRunningMax } from './trust/votes.ts';

/**
 * Checks that the state does not contradict itself. @throws {InvariantError} naming the first contradiction. Cost: the
 * size of the state.
 */
export function checkInvariants(state: BrokerState): void {
  for (const job of state.jobs.values()) checkJob(state, job);
  for (const job of state.openJobs.values())
    invariant(state.jobs.get(job.jobId) === job, () => `open job ${job.jobId} is not among the jobs`);
  checkServingOrder(state);
  checkOnMachines(state);
  for (const machine of state.machines.values()) checkMachine(state, machine);
  for (const [replicaId, replica] of state.replicas) checkReplica(state, replicaId, replica);
  for (const [replicaId, success] of state.successes) checkSuccess(state, replicaId, success);
  for (const record of state.records.values()) checkRecord(state, record);
  for (const provider of state.providers.values()) checkLeases(state, provider);
  checkGangs(state);
  for (const account of state.accounts.values()) {
    const least = Math.min(account.used, account.losers, account.killed, account.departed, account.unsettled);
    invariant(least >= 0, () => `account ${account.key} is below nothing`);
  }
}

/** What may come back is bounded, of ids that are given, and comes back once. */
function checkLeases(state: BrokerState, { providerId, leases, confirmedLease }: BrokerProvider): void {
  invariant(leases.length <= unconfirmedMax + 1, () => `provider ${providerId} has ${leases.length} leases`);
  let before = 0;
  for (const lease of leases) {
    const name = (): string => `lease ${lease.sequence} of provider ${providerId}`;
    invariant(
      lease.sequence > before && lease.sequence >= confirmedLease,
      () => `${name()} comes after ${before}, and ${confirmedLease} is confirmed`,
    );
    before = lease.sequence;
    for (const { firstReplicaId, taskRanges } of lease.parts) {
      invariant(
        firstReplicaId + countIn(taskRanges) <= state.nextReplicaId,
        () => `${name()} has ids that are not given`,
      );
    }
    for (const replicaId of lease.adopted)
      invariant(
        findLeasedTask(lease, replicaId) !== undefined,
        () => `${name()} had replica ${replicaId} adopted, which is not of it`,
      );
  }
}

/** Each open job is served before those behind it. */
function checkServingOrder({ openJobs }: BrokerState): void {
  let before: BrokerJob | undefined;
  for (const job of openJobs.values()) {
    const earlier = before;
    invariant(
      earlier === undefined || !isServedBefore(job, earlier),
      () => `job ${job.jobId} is served after job ${earlier?.jobId}`,
    );
    before = job;
  }
}

/** What jobs count as being at machines is there. */
function checkOnMachines({ jobs, replicas }: BrokerState): void {
  const counts = new Map<BrokerJob, number>();
  for (const replica of replicas.values())
    if (!isFollower(replica)) counts.set(replica.job, (counts.get(replica.job) ?? 0) + 1);
  for (const job of jobs.values())
    invariant(
      job.onMachines === (counts.get(job) ?? 0),
      () => `job ${job.jobId} counts ${job.onMachines} replicas at machines; ${counts.get(job) ?? 0} are there`,
    );
}

function checkJob(state: BrokerState, job: BrokerJob): void {
  const name = (): string => `job ${job.jobId}`;
  job.times.check();
  const isOpen = state.openJobs.has(job.jobId);
  invariant(isOpen === (job.endedAt === 0), () => `${name()} is open and ended, or neither`);
  invariant(
    !job.takesTasks || (isOpen && job.status === 'running'),
    () => `${name()} takes tasks and is ${job.status}`,
  );
  if (!isOpen) invariant(job.tasks.size === 0, () => `${name()} has ended with open tasks`);
  for (const [index, task] of job.tasks) checkTask(state, job, index, task);
  if (job.spec === undefined) {
    invariant(
      job.status === 'finished' && !isOpen && job.groups.length === 0,
      () => `${name()} dropped its spec and may need it`,
    );
    return;
  }
  invariant(
    job.reservationOver === undefined || job.reservation !== undefined,
    () => `${name()} has left a reservation that it never had`,
  );
  checkCounts(job, name);
  checkGroups(job, name);
  checkDependencies(job, name);
  checkAssignments(job);
  checkHeld(job, name);
  checkGates(state, job, name);
  checkSupports(job, name);
  if (job.status === 'cancelled')
    invariant(countReady(job) + job.parked.size === 0, () => `${name()} is cancelled with ready tasks`);
}

/** Held tasks are not ready, and parked ones are held. */
function checkHeld(job: BrokerJob, name: () => string): void {
  for (const index of job.parked.values())
    invariant(
      job.held.has(index) || isGated(job, index),
      () => `task ${index} of ${name()} is parked, neither held nor waiting`,
    );
  for (const queue of job.queues)
    for (const { first, count } of job.held.ranges()) {
      const held = queue.ready.findFrom(first);
      invariant(held === undefined || held >= first + count, () => `task ${held} of ${name()} is ready and held`);
    }
}

/** Whether the job that another waits for leads to it. */
function isFound({ dependents, earlyDependents }: BrokerState, job: BrokerJob, awaited: JobDependency): boolean {
  const isEarlyFound = !isEarly(awaited) || earlyDependents.get(awaited.jobId)?.has(job) === true;
  return isEarlyFound && dependents.get(awaited.jobId)?.has(job) === true;
}

/** What waits for another job or a time is not ready, and is found by what it waits for. */
function checkGates(state: BrokerState, job: BrokerJob, name: () => string): void {
  const { timedJobs, openJobs, jobs } = state;
  const isOpen = openJobs.has(job.jobId);
  for (const { jobId, condition, waiting } of job.awaited) {
    const before = jobs.get(jobId);
    invariant(isOpen && before !== undefined, () => `${name()} has ended and waits, or waits for no job`);
    invariant(
      job.status !== 'running' || !isDecided(before, { condition, waiting }),
      () => `${name()} waits for job ${jobId} (${condition}), of which that is decided`,
    );
    invariant(
      isFound(state, job, { jobId, condition }),
      () => `job ${jobId} does not know that ${name()} waits for it`,
    );
    invariant(
      waiting.size > 0 === (condition === 'each'),
      () => `${name()} waits for job ${jobId} with ${waiting.size} tasks of its own`,
    );
  }
  const isTimed = job.beginAt !== undefined || job.expireAt !== undefined;
  invariant(
    isTimed === timedJobs.has(job),
    () => `${name()} has times to come and is not looked at, or has none and is`,
  );
  for (const { ready } of job.queues)
    for (const index of isWhollyGated(job) || job.awaited.length > 0 ? ready.values() : [])
      invariant(!isGated(job, index), () => `task ${index} of ${name()} is ready and waits`);
}

/** Groups follow each other without a gap, and appends are of tasks that there are. */
function checkGroups({ groups, appends, taskCount }: BrokerJob, name: () => string): void {
  let next = 0;
  for (const { firstTaskIndex, count } of groups) {
    invariant(firstTaskIndex === next, () => `${name()} has a group from task ${firstTaskIndex} on, not ${next}`);
    next += count;
  }
  invariant(next === taskCount, () => `${name()} has ${taskCount} tasks, and ${next} in its groups`);
  for (const [key, append] of appends)
    invariant(
      append.firstTaskIndex + append.taskCount <= taskCount,
      () => `${name()} has more tasks under the key ${key} than in all`,
    );
}

/** Each task is in one place: ready, open, or one of the three sets of ended ones. */
function checkCounts(job: BrokerJob, name: () => string): void {
  const all = new IndexSet();
  let sum = 0;
  for (const { heldBack } of job.queues)
    invariant(heldBack.size === 0, () => `job ${job.jobId} has tasks held back between two steps`);
  for (const set of [
    job.finished,
    job.failed,
    job.cancelled,
    job.parked,
    ...job.queues.map((queue) => queue.ready),
    ...(job.dependencies === undefined ? [] : [job.dependencies.waiting]),
  ]) {
    sum += set.size;
    all.addAll(set);
  }
  for (const task of job.tasks.values()) {
    if (task.status === 'ready') continue;
    sum++;
    all.add(task.index);
  }
  invariant(
    sum === job.taskCount && all.size === sum,
    () => `${name()} has ${job.taskCount} tasks, ${sum} places and ${all.size} different ones`,
  );
  invariant(all.findFrom(job.taskCount) === undefined, () => `${name()} has a task beyond its last`);
}

/** A waiting task waits for a task that may still finish; a task that has begun does not. */
function checkDependencies(
  { dependencies, finished, failed, cancelled, tasks, taskCount, queues }: BrokerJob,
  name: () => string,
): void {
  if (dependencies === undefined) return;
  for (let index = 0; index < taskCount; index++) {
    const before = listPredecessors(dependencies, index);
    const unmet = before.filter((task) => !finished.has(task)).length;
    invariant(
      dependencies.unmet[index] === unmet,
      () => `task ${index} of ${name()} waits for ${unmet} tasks and counts ${dependencies.unmet[index]}`,
    );
    if (dependencies.waiting.has(index)) {
      invariant(unmet > 0, () => `task ${index} of ${name()} waits for nothing`);
      invariant(
        !before.some((task) => failed.has(task) || cancelled.has(task)),
        () => `task ${index} of ${name()} waits for what does not come`,
      );
    }
    const isBegun = tasks.has(index) || finished.has(index) || queues.some(({ ready }) => ready.has(index));
    invariant(!isBegun || unmet === 0, () => `task ${index} of ${name()} goes before what it waits for`);
  }
}

function checkTask(state: BrokerState, job: BrokerJob, index: number, task: OpenTask): void {
  const name = (): string => `task ${index} of job ${job.jobId}`;
  const [running, succeeded] = [task.replicas.length, task.successes?.length ?? 0];
  invariant(task.index === index, () => `${name()} calls itself ${task.index}`);
  const isReady = isReadyOrParked(job, index);
  invariant(isReady === (task.status === 'ready'), () => `${name()} is ${task.status}, and its queue says otherwise`);
  switch (task.status) {
    case 'ready':
      invariant(running === 0 && succeeded === 0, () => `${name()} is ready and has replicas`);
      break;
    case 'running':
      invariant(running > 0 && succeeded === 0, () => `${name()} runs without replicas, or has a success`);
      break;
    case 'verifying':
      invariant(succeeded > 0, () => `${name()} is verifying without a success`);
      break;
    default:
      invariant(false, `${name()} is open and ${task.status}`);
  }
  const placed = task.replicas.reduce((count, { isAdopted }) => (isAdopted ? count : count + 1), 0);
  const runningMax = getRunningMax(state, job);
  invariant(placed <= runningMax, () => `${name()} has ${placed} replicas; ${runningMax} are allowed`);
  checkVotes(job, task, name);
  invariant(
    task.isCancelled !== true || (!isReady && task.replicas.every(({ status }) => status === 'aborting')),
    () => `${name()} is cancelled yet continues`,
  );
  invariant(
    running + succeeded < 2 || isVotedOn(job) || job.withSibling.has(task),
    () => `${name()} has siblings that no cap would count`,
  );
  const machines = new Set(task.replicas.map((replica) => replica.machine));
  invariant(machines.size === running, () => `${name()} has two replicas on one machine`);
}

function checkVotes(job: BrokerJob, { successes = [], accepting }: OpenTask, name: () => string): void {
  const voters = new Set(successes.map(({ identity }) => identity));
  invariant(!isVotedOn(job) || voters.size === successes.length, () => `${name()} has two votes of one machine`);
  invariant(
    accepting === undefined || successes.includes(accepting),
    () => `${name()} brings home what is not a success of it`,
  );
}

/** What was caught has nothing, and nothing rests on it in jobs that run. */
function checkRecord(state: BrokerState, { identity, quarantinedAt, passes }: TrustRecord): void {
  invariant(passes >= 0, () => `${identity} passed ${passes} checks`);
  if (quarantinedAt === 0) return;
  for (const success of state.successes.values())
    invariant(success.identity !== identity, () => `${identity} was caught and has a success`);
  for (const machine of state.machines.values()) {
    invariant(
      getIdentity(machine.facts) !== identity || machine.replicas.size === 0,
      () => `${identity} was caught and has replicas`,
    );
  }
}

/** Only what has finished is supported. */
function checkSupports(job: BrokerJob, name: () => string): void {
  if (job.endedAt !== 0) return;
  for (const [identity, support] of job.supports) {
    for (const { first, count } of support.ranges()) {
      for (let index = first; index < first + count; index++)
        invariant(
          job.finished.has(index),
          () => `${identity} supports task ${index} of ${name()}, which has not finished`,
        );
    }
  }
}

function checkMachine(state: BrokerState, machine: BrokerMachine): void {
  const name = (): string => `machine ${machine.facts.machineId}`;
  invariant(
    machine.provider.machines.get(machine.facts.machineId) === machine,
    () => `${name()} is not among its provider's`,
  );
  invariant(
    machine.processors === machine.facts.processors,
    () => `${name()} has ${machine.facts.processors} processors and says ${machine.processors}`,
  );
  machine.times.check();
  invariant(machine.slowness.count >= 0 && machine.slowness.sum >= 0, () => `${name()} is of a slowness below nothing`);
  let held = 0;
  for (const replica of machine.replicas.values()) {
    held += replica.processors;
    invariant(
      replica.machine === machine && state.replicas.get(replica.replicaId) === replica,
      () => `${name()} has a replica that is not its own`,
    );
  }
  invariant(
    held === machine.heldProcessors,
    () => `${name()} holds ${held} processors and says ${machine.heldProcessors}`,
  );
  checkResources(machine);
  invariant(
    machine.charged >= 0 && machine.charged <= getPresence(machine, Infinity),
    () => `${name()} is charged more than it was there`,
  );
  invariant(
    !machine.isAnnounced || machine.provider.isConnected,
    () => `${name()} is announced by a provider that is away`,
  );
}

function checkReplica(state: BrokerState, replicaId: number, replica: BrokerReplica): void {
  const { job, task, machine } = replica;
  const name = (): string => `replica ${replicaId}`;
  invariant(
    replica.replicaId === replicaId && replicaId < state.nextReplicaId,
    () => `${name()} has another number, or one to come`,
  );
  invariant(machine.replicas.get(replicaId) === replica, () => `${name()} is not on its machine`);
  invariant(
    isFollower(replica) !== task.replicas.includes(replica),
    () => `${name()} is not among its task's, or follows and is`,
  );
  invariant(
    (replica.status === 'aborting') === (replica.abortDisposition !== undefined),
    () => `${name()} is ${replica.status} with disposition ${replica.abortDisposition}`,
  );
  invariant(!replica.isEnding, () => `${name()} should have ended and did not`);
  invariant(
    isInPlace(replica),
    () => `${name()} of job ${job.jobId} runs outside its reservation, or inside another one`,
  );
  const isOpen = job.tasks.get(task.index) === task;
  invariant(isOpen || replica.status === 'aborting', () => `${name()} runs for a task that has ended`);
}

/** What a reservation's machines run is of jobs that are, or were, inside it; a job that is inside one runs there. */
function isInPlace({ job: { reservation, reservationOver }, machine: { facts } }: BrokerReplica): boolean {
  if (facts.reservation === undefined)
    return reservation === undefined || reservation.isOwn === true || reservationOver !== undefined;
  return reservation !== undefined && isOfReservation(reservation, facts.reservation);
}

function checkSuccess(state: BrokerState, replicaId: number, { job, task, ending }: Success): void {
  invariant(ending.replicaId === replicaId, () => `success ${replicaId} has another number`);
  invariant(
    job.tasks.get(task.index) === task && task.status === 'verifying',
    () => `success ${replicaId} of a task that is not verifying`,
  );
  invariant(
    task.successes?.some((success) => success.ending === ending),
    () => `success ${replicaId} is not among its task's`,
  );
  invariant(!state.replicas.has(replicaId), () => `success ${replicaId} is still on a machine`);
}
