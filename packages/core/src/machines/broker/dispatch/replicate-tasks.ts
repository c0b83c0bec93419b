import { timeMax } from '../../../times/index.ts';
import { findScheduler, type IdleSlots, replicate, type ReplicableTask } from '../../../bag/index.ts';
import type { Instant, ProcessorMillis } from '../../../shared/index.ts';
import { avoidedUntil } from './avoidance.ts';
import { isWanted } from './preempt-speculative.ts';
import { isUnreceived } from './hold-back.ts';
import { matchesQueue } from './matching.ts';
import { dispatchBatch } from './dispatch-batch.ts';
import { idlesAnyway } from './idles-anyway.ts';
import { keepsAway } from '../times/remaining-time.ts';
import { claimOfSibling, costOfSibling, getLeft, type SiblingCandidate } from './replication-budget.ts';
import type { BrokerJob, BrokerMachine, BrokerState, OpenTask, TaskQueue } from '../state.ts';
import { bytesHeldIn } from '../results/stored-inputs.ts';
import { countReady } from '../jobs/ready-tasks.ts';
import { getRoom } from '../jobs/serving-order.ts';
import { findResources, findWidth, getGroup } from '../jobs/task-groups.ts';
import { findQueue } from '../site-selection/assigned-tasks.ts';
import { expectedTime, getRemaining } from '../times/task-times.ts';
import { type Turn, wakeBy } from '../turn.ts';
import { hasVotedOn, isVotedOn, votesWanted } from '../trust/votes.ts';

interface RunningTask extends ReplicableTask {
  readonly job: BrokerJob;
  readonly task: OpenTask;
}

/**
 * Gives idle machines replicas of running tasks.
 *
 * Departs from the seed, which replicates at once: a task has to run for `replicateAfter` first, so that short ones are
 * not
 * run twice for nothing.
 *
 * @param ready queues that were served, whose tasks may wait for other machines than the idle ones.
 */
export function replicateTasks(turn: Turn, idle: IdleSlots<BrokerMachine>, ready: readonly TaskQueue[]): void {
  const tasks: RunningTask[] = [];
  for (const job of turn.state.openJobs.values()) {
    if (isReplicated(job) && mayReplicate(job)) gatherRunning(turn, job, tasks);
  }
  if (tasks.length === 0) return;
  const caps = new Caps(turn, ready);
  const bytesHeld = bytesHeldIn(turn.state);
  replicate(tasks, idle, {
    suits: ({ job, task }, machine) =>
      mayReplicate(job) && suits(turn, job, { task, machine }) && caps.allow(job, { task, machine }),
    worth: ({ job, task }, machine) => getWorth(job, { task, machine }, bytesHeld),
    dispatch: (machine, { job, task }) => {
      caps.note(job, { task, machine });
      dispatchBatch(turn, machine, { job, group: getGroup(job, task.index), taskIndexes: [task.index] });
    },
  });
}

/**
 * What the jobs' caps allow in this turn. Only events make them allow more, never time alone: no timer would ask for
 * it.
 */
class Caps {
  readonly #turn: Turn;
  readonly #ready: readonly TaskQueue[];
  /** What is left of the jobs' shares. */
  readonly #left = new Map<BrokerJob, ProcessorMillis>();

  constructor(turn: Turn, ready: readonly TaskQueue[]) {
    this.#turn = turn;
    this.#ready = ready;
  }

  allow(job: BrokerJob, candidate: SiblingCandidate): boolean {
    switch (job.replicationCap.kind) {
      case 'none':
        return true;
      case 'idle':
        return !isWanted(this.#turn, this.#ready, candidate.machine) && idlesAnyway(this.#turn, candidate.machine);
      case 'share':
        return claimOfSibling(job, candidate, this.#turn.now) <= this.#getLeft(job);
    }
  }

  /** Takes note of a replica that is about to be dispatched. */
  note(job: BrokerJob, candidate: SiblingCandidate): void {
    if (job.replicationCap.kind === 'share')
      this.#left.set(job, this.#getLeft(job) - costOfSibling(job, candidate, this.#turn.now));
  }

  #getLeft(job: BrokerJob): ProcessorMillis {
    const known = this.#left.get(job);
    if (known !== undefined) return known;
    const left = getLeft(job, this.#turn.now);
    this.#left.set(job, left);
    return left;
  }
}

/** Whether a job may run a task a second time at once: not before those of its tasks that wait. */
function mayReplicate(job: BrokerJob): boolean {
  return job.runningMax === undefined || getRoom(job) > countReady(job);
}

/** Whether idle processors may get replicas of the job's running tasks. */
function isReplicated({ isGang, replicasMax, status, scheduler }: BrokerJob): boolean {
  return !isGang && replicasMax > 1 && status === 'running' && findScheduler(scheduler).replication !== 'none';
}

/** Bytes count before speed where replicas go to the data: a byte is more than any difference in time. */
function getWorth(
  job: BrokerJob,
  { task, machine }: SiblingCandidate,
  bytesHeld: ReturnType<typeof bytesHeldIn>,
): number {
  const time = expectedTime(job, machine) ?? 0;
  if (findScheduler(job.scheduler).replication !== 'where-data-are') return -time;
  return bytesHeld(findQueue(job, task.index), task.index, machine) - time / timeMax;
}

function gatherRunning(turn: Turn, job: BrokerJob, tasks: RunningTask[]): void {
  for (const task of job.tasks.values()) {
    const replicasMax = getReplicasMax(turn.state, job, task);
    if (task.replicas.length === 0 || task.replicas.length >= replicasMax || task.failureCount >= job.failuresMax)
      continue;
    if (job.held.has(task.index) || isUnreceived(turn, job, task)) continue;
    const { runningSince, due } = sinceWhen(turn, task);
    if (due > turn.now) wakeBy(turn, due);
    else if (!task.replicas.some((replica) => replica.isWithdrawing || replica.status === 'aborting')) {
      tasks.push({
        job,
        task,
        processors: findWidth(job, task.index),
        resources: findResources(job, task.index),
        replicasMax,
        runningSince,
        remaining: getRemaining(task, turn.now),
        priority: job.priority,
        get replicaCount() {
          return this.task.replicas.length;
        },
      });
    }
  }
}

/**
 * Since when a task runs, and when it may have another replica: before that, its end may still be held back at its
 * machine.
 */
function sinceWhen(
  { state, now }: Turn,
  { replicas: [first] }: OpenTask,
): { readonly runningSince: Instant; readonly due: Instant } {
  if (first === undefined) return { runningSince: now, due: now + state.options.replicateAfter };
  return {
    runningSince: first.dispatchedAt,
    due: first.dispatchedAt + state.options.replicateAfter + (first.machine.facts.reportDelay ?? 0),
  };
}

/** A task that is voted on may have, for each vote, as many siblings as a task that runs once. */
function getReplicasMax(state: BrokerState, job: BrokerJob, task: OpenTask): number {
  if (!isVotedOn(job)) return task.status === 'running' ? job.replicasMax : 0;
  const wanted = votesWanted(state, job, task);
  return wanted === 0 ? 0 : wanted - 1 + job.replicasMax;
}

function suits(turn: Turn, job: BrokerJob, { task, machine }: { task: OpenTask; machine: BrokerMachine }): boolean {
  if (task.replicas.some((replica) => replica.machine === machine) || (isVotedOn(job) && hasVotedOn(task, machine)))
    return false;
  const queue = findQueue(job, task.index);
  if (!matchesQueue(queue, machine) || keepsAway(turn, queue, machine)) return false;
  const until = avoidedUntil(turn, machine, { queue, task });
  if (until !== undefined) wakeBy(turn, until);
  return until === undefined;
}
