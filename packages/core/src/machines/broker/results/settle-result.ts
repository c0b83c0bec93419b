import { askToAccept, settle } from './bring-home.ts';
import { judge, noteMisconduct, noteMismatch, noteOutvoted } from '../trust/convict.ts';
import { refusedEnding } from './endings.ts';
import type { GetInput } from '../inputs.ts';
import type { Success } from '../state.ts';
import { noteWritten } from './stored-inputs.ts';
import { cancelReplica, commit, type Turn } from '../turn.ts';
import { getDecision, isVotedOn, successesWith } from '../trust/votes.ts';

/** The code of bytes that were not those that were announced. */
const mismatchCode = 'MUT_CONTENT_MISMATCH';

/** Notes the digest of a success; its consequences are decided once for all inputs. */
export function onDigest(turn: Turn, { replicaId, digest }: GetInput<'ResultDigested'>): void {
  const success = turn.state.successes.get(replicaId);
  if (success === undefined || success.digest !== undefined) return;
  const {
    machineId,
    job: { jobId },
  } = success;
  commit(turn, { kind: 'ReplicaDigested', machineId, jobId, replicaId, digest });
}

/** Takes a result that is home and checked as the task's, and lets all siblings go. */
export function acceptResult(turn: Turn, input: GetInput<'ResultAccepted'>): void {
  const success = turn.state.successes.get(input.replicaId);
  if (success === undefined) return;
  if (isVotedOn(success.job)) acceptVoted(turn, success);
  else acceptOver(turn, success, []);
}

/** The votes for it confirm each other, and those against it are held against their machines. */
function acceptVoted(turn: Turn, success: Success): void {
  const {
    task,
    job: { jobId },
    digest = '',
  } = success;
  if (!isStillDecided(turn, success)) {
    task.accepting = undefined;
    return;
  }
  const accepted = successesWith(task, digest);
  const outvoted = (task.successes ?? []).filter((other) => other.digest !== undefined && other.digest !== digest);
  // Before those that agreed are credited with it: otherwise the vote would vouch for itself.
  const verdict = judge(turn.state, task, digest);
  commit(turn, {
    kind: 'TaskDecided',
    jobId,
    taskIndex: task.index,
    voters: accepted.map(({ identity }) => identity),
    outvotedCount: outvoted.length,
  });
  acceptOver(turn, success, outvoted);
  noteOutvoted(turn, { accepted, outvoted, verdict });
}

function acceptOver(turn: Turn, success: Success, outvoted: readonly Success[]): void {
  const { task } = success;
  for (const sibling of task.replicas) cancelReplica(turn, sibling);
  const others = task.successes?.filter((other) => other !== success) ?? [];
  noteWritten(turn.state, success);
  settle(turn, success, { ...success.ending, disposition: 'accepted', taskStatus: 'finished' });
  for (const other of others)
    settle(turn, other, {
      ...other.ending,
      disposition: outvoted.includes(other) ? 'outvoted' : 'surplus',
      taskStatus: 'finished',
    });
}

/** A vote may have gone while the result was brought home: its machine was caught, say. */
function isStillDecided({ state }: Turn, { job, task, digest }: Success): boolean {
  const decision = getDecision(state, job, task);
  return decision.kind === 'accepted' && decision.digest === digest;
}

/**
 * Ends a result that could not be brought home or did not pass its check by whose fault that is, and turns to the next
 * success.
 */
export function refuseResult(turn: Turn, input: GetInput<'ResultRefused'>): void {
  const success = turn.state.successes.get(input.replicaId);
  if (success === undefined) return;
  const { task, job } = success;
  const { reason, detail } = input;
  settle(turn, success, refusedEnding(turn, success, input));
  if (task.successes !== undefined && !isVotedOn(job)) askToAccept(turn, task);
  if (reason === mismatchCode) noteMismatch(turn, success, detail);
  noteMisconduct(turn, success, { code: reason, detail, task: { jobId: job.jobId, taskIndex: task.index } });
}
