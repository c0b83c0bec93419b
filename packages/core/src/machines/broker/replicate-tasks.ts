import { findScheduler, type IdleSlots, replicate, type ReplicableTask } from '../../bag/index.ts';
import type { Duration, Instant } from '../../shared/index.ts';
import { avoidedUntil } from './avoidance.ts';
import { matchesQueue } from './matching.ts';
import { placeBatch } from './place-batch.ts';
import { keepsAway } from './remaining-time.ts';
import type { BrokerJob, BrokerMachine, BrokerState, OpenTask } from './state.ts';
import { getGroup } from './task-groups.ts';
import { expectedRest, expectedTime } from './task-times.ts';
import { type Turn, wakeBy } from './turn.ts';
import { hasVotedOn, isVotedOn, votesWanted } from './votes.ts';

interface RunningTask extends ReplicableTask {
  readonly job: BrokerJob;
  readonly task: OpenTask;
}

/**
 * Gives idle machines replicas of running tasks.
 *
 * Departs from the seed, which replicates at once: a task has to run for `replicateAfter` first, so that short ones are not
 * run twice for nothing.
 */
export function replicateTasks(turn: Turn, idle: IdleSlots<BrokerMachine>): void {
  const tasks: RunningTask[] = [];
  for (const job of turn.state.openJobs.values()) {
    if (isReplicated(job)) gatherRunning(turn, job, tasks);
  }
  if (tasks.length === 0) return;
  replicate(tasks, idle, {
    suits: ({ job, task }, machine) => suits(turn, job, { task, machine }),
    worth: ({ job }, machine) => -(expectedTime(job, machine) ?? 0),
    place: (machine, { job, task }) => placeBatch(turn, machine, { job, group: getGroup(job, task.index), taskIndexes: [task.index] }),
  });
}

/** Whether idle processors may get replicas of the job's running tasks. */
function isReplicated({ replicasMax, status, scheduler }: BrokerJob): boolean {
  return replicasMax > 1 && status === 'running' && findScheduler(scheduler).replication !== 'none';
}

function gatherRunning(turn: Turn, job: BrokerJob, tasks: RunningTask[]): void {
  for (const task of job.tasks.values()) {
    const replicasMax = replicasMaxOf(turn.state, job, task);
    if (task.replicas.length === 0 || task.replicas.length >= replicasMax || task.failureCount >= job.failuresMax) continue;
    const runningSince = task.replicas[0]?.placedAt ?? turn.now;
    const due: Instant = runningSince + turn.state.options.replicateAfter;
    if (due > turn.now) wakeBy(turn, due);
    else if (!task.replicas.some((replica) => replica.isWithdrawing || replica.status === 'aborting')) {
      tasks.push({
        job, task, processors: job.processors, replicasMax, runningSince, remaining: remainingOf(task, turn.now),
        get replicaCount() { return this.task.replicas.length; },
      });
    }
  }
}

/** In how long the first of its replicas is expected to end. */
function remainingOf({ replicas }: OpenTask, now: Instant): Duration | undefined {
  let least: Duration | undefined;
  for (const replica of replicas) {
    const rest = expectedRest(replica, now);
    if (rest !== undefined && (least === undefined || rest < least)) least = rest;
  }
  return least;
}

/** Those that are to vote may each have as many sisters as a task that is run once. */
function replicasMaxOf(state: BrokerState, job: BrokerJob, task: OpenTask): number {
  if (!isVotedOn(job)) return task.status === 'running' ? job.replicasMax : 0;
  const wanted = votesWanted(state, job, task);
  return wanted === 0 ? 0 : wanted - 1 + job.replicasMax;
}

function suits(turn: Turn, job: BrokerJob, { task, machine }: { task: OpenTask; machine: BrokerMachine }): boolean {
  if (task.replicas.some((replica) => replica.machine === machine) || (isVotedOn(job) && hasVotedOn(task, machine))) return false;
  const { queue } = getGroup(job, task.index);
  if (!matchesQueue(queue, machine.facts) || keepsAway(turn, queue, machine)) return false;
  const until = avoidedUntil(turn, machine, { queue, task });
  if (until !== undefined) wakeBy(turn, until);
  return until === undefined;
}
