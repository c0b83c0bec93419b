import type { Cause } from '../../../reasons/index.ts';
import { groupVotes, type Vote } from '../../../trust/index.ts';
import { askToAccept, settle } from './bring-home.ts';
import type { ReplicaEnding, ReplicaDisposition } from '../changes.ts';
import { isSpent } from './endings.ts';
import type { BrokerJob, OpenTask } from '../state.ts';
import type { Turn } from '../turn.ts';
import { getDecision, isVotedOn, successesWith, findVotes } from '../trust/votes.ts';

/** The code of a task on whose result its machines never agreed. */
export const noMajority = 'MUT_NO_MAJORITY';

/**
 * Decides the votes of every task that has some: brings accepted results home, and gives up tasks that can no longer be
 * decided.
 *
 * In each step again, since a machine's credit, which grows elsewhere, may decide a task. Cost: the open tasks of jobs
 * that vote.
 */
export function decideTasks(turn: Turn): void {
  for (const job of turn.state.openJobs.values()) {
    if (!isVotedOn(job)) continue;
    let awaiting = 0;
    for (const task of [...job.tasks.values()]) {
      if (task.successes === undefined) continue;
      awaiting++;
      if (task.accepting === undefined) decide(turn, job, task);
    }
    if (awaiting >= turn.state.options.trust.awaitingMax) turn.crowded.add(job);
  }
}

function decide(turn: Turn, job: BrokerJob, task: OpenTask): void {
  const decision = getDecision(turn.state, job, task);
  if (decision.kind === 'accepted') {
    const [first] = successesWith(task, decision.digest);
    if (first !== undefined) askToAccept(turn, task, first);
    return;
  }
  if (mayGetVotes(task)) return;
  if (job.status === 'cancelled' || task.isCancelled === true)
    endVotes(turn, task, { disposition: 'cancelled', reason: '', detail: '' });
  else if (decision.kind === 'deadlocked') {
    endVotes(turn, task, { disposition: 'failed', reason: noMajority, detail: explainDeadlock(job, findVotes(task)) });
  } else if (isSpent(task, job, turn.state.options)) {
    endVotes(turn, task, {
      disposition: 'failed',
      reason: noMajority,
      detail: { code: 'votes-runs-failed', failures: task.failureCount, losses: task.lossCount },
    });
  }
}

/** Unanimous results may still not be credible enough, if the rules were made stricter since the job was accepted. */
function explainDeadlock({ verification }: BrokerJob, votes: readonly Vote[]): Cause {
  const most = Math.max(...groupVotes(votes).map(({ voters }) => voters.length));
  return verification?.kind === 'credibility' && most === votes.length
    ? { code: 'votes-below-threshold', results: most, threshold: verification.threshold }
    : { code: 'votes-disagree', results: votes.length };
}

function mayGetVotes({ replicas, successes = [] }: OpenTask): boolean {
  return replicas.length > 0 || successes.some(({ digest }) => digest === undefined);
}

/** Ends all results of a task that gets none accepted, and the task with the last. */
function endVotes(
  turn: Turn,
  task: OpenTask,
  end: {
    readonly disposition: ReplicaDisposition & ('failed' | 'cancelled');
    readonly reason: string;
    readonly detail: Cause;
  },
): void {
  const successes = task.successes ?? [];
  for (const [index, success] of successes.entries()) {
    const taskStatus: ReplicaEnding['taskStatus'] = index === successes.length - 1 ? end.disposition : 'verifying';
    settle(turn, success, { ...success.ending, ...end, taskStatus });
  }
}
