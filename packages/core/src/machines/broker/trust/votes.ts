import {
  decideByCredibility,
  decideByMajority,
  type Decision,
  isSpotCheck,
  getMajority,
  type Vote,
} from '../../../trust/index.ts';
import { isSpent } from '../results/endings.ts';
import type { BrokerJob, BrokerMachine, BrokerState, OpenTask, Success } from '../state.ts';
import { getCredibility, getIdentity } from './trust-records.ts';

/** Whether the results of a job are voted on. */
export function isVotedOn({ verification }: BrokerJob): boolean {
  return verification?.kind === 'vote' || verification?.kind === 'credibility';
}

/** What the votes of a task of such a job say so far. */
export function getDecision(state: BrokerState, job: BrokerJob, task: OpenTask): Decision {
  const votes = findVotes(task);
  return decideVotes(state, job, { taskIndex: task.index, votes });
}

/** What these votes would say. */
export function decideVotes(
  state: BrokerState,
  job: BrokerJob,
  { taskIndex, votes }: { readonly taskIndex: number; readonly votes: readonly Vote[] },
): Decision {
  const { verification, jobId } = job;
  if (verification?.kind === 'vote') return decideByMajority(votes, verification.count);
  const { credibility: rules, spotCheck } = state.options.trust;
  const threshold = verification?.kind === 'credibility' ? verification.threshold : 0;
  const votesMin = isSpotCheck({ jobId, taskIndex }, spotCheck) ? 2 : 1;
  return decideByCredibility(
    votes,
    { threshold, votesMin },
    { rules, getCredibility: (identity) => getCredibility(state, identity) },
  );
}

/** The votes that a task has. */
export function findVotes({ successes = [] }: OpenTask): Vote[] {
  const votes: Vote[] = [];
  for (const { identity, digest } of successes) if (digest !== undefined) votes.push({ voter: identity, digest });
  return votes;
}

/** The successes of a task that brought that result, in the order of success. */
export function successesWith({ successes = [] }: OpenTask, digest: string): Success[] {
  return successes.filter((success) => success.digest === digest);
}

/**
 * Votes that a task still needs from runs, under way or not, to be decided; 0 if it needs none, or gets no further
 * ones.
 */
export function votesWanted(state: BrokerState, job: BrokerJob, task: OpenTask): number {
  if (job.status !== 'running' || task.isCancelled === true || job.held.has(task.index)) return 0;
  if (task.accepting !== undefined || isSpent(task, job, state.options)) return 0;
  const decision = getDecision(state, job, task);
  if (decision.kind !== 'open') return 0;
  const undigested = (task.successes ?? []).filter(({ digest }) => digest === undefined).length;
  return Math.max(0, decision.votesMissing - undigested);
}

/** Runs of a voted task that nothing provides for yet. */
export function runsMissing(state: BrokerState, job: BrokerJob, task: OpenTask): number {
  // What is ready is placed as any other task.
  if (task.status === 'ready') return 0;
  return Math.max(0, votesWanted(state, job, task) - task.replicas.length);
}

/** Whether a machine has voted on a task, or may yet: another vote of it would count for nothing. */
export function hasVotedOn(task: OpenTask, machine: BrokerMachine): boolean {
  const identity = getIdentity(machine.facts);
  if (task.replicas.some((replica) => getIdentity(replica.machine.facts) === identity)) return true;
  return task.successes?.some((success) => success.identity === identity) === true;
}

/** Replicas of one task of the job that may run at once. */
export function getRunningMax(state: BrokerState, { verification, replicasMax }: BrokerJob): number {
  if (verification?.kind === 'vote') return replicasMax - 1 + getMajority(verification.count);
  return verification?.kind === 'credibility'
    ? replicasMax - 1 + state.options.trust.credibility.votesMax
    : replicasMax;
}

/** Runs that the votes of a job's tasks need beyond one of each, under way or not. */
export function countRunsWanted(state: BrokerState, job: BrokerJob): number {
  if (!isVotedOn(job)) return 0;
  let wanted = 0;
  for (const task of job.tasks.values())
    if (task.status !== 'ready') wanted += Math.max(0, votesWanted(state, job, task) - 1);
  return wanted;
}
