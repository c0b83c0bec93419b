import { invariant } from '../../../shared/index.ts';
import type { ReplicaEnding } from '../changes.ts';
import type { BrokerCommand } from '../commands.ts';
import type { OpenTask, Success } from '../state.ts';
import { getGroup, getTaskGroup } from '../jobs/task-groups.ts';
import { commit, type Turn } from '../turn.ts';
import { isVotedOn } from '../trust/votes.ts';

type GetCommand<Kind extends BrokerCommand['kind']> = Extract<BrokerCommand, { kind: Kind }>;

/** Has a success of a task, the first where none is named, brought home and checked. */
export function askToAccept(turn: Turn, task: OpenTask, chosen?: Success): void {
  const success = chosen ?? task.successes?.[0];
  invariant(success, `task ${task.index} has no success to accept`);
  if (isVotedOn(success.job)) task.accepting = success;
  turn.commands.push(acceptCommand(success));
}

/** What the driver must do to settle a success. */
export function acceptCommand(success: Success): GetCommand<'AcceptResult'> {
  // Where results are voted on, the check has said what each is before.
  return { kind: 'AcceptResult', ...orderOf(success), ...(isVotedOn(success.job) ? { check: '' } : {}) };
}

/** The command that makes the driver digest a success. */
export function digestCommand(success: Success): GetCommand<'DigestResult'> {
  return { kind: 'DigestResult', ...orderOf(success) };
}

function orderOf(success: Success) {
  const { job, task, machineId, ending, outputSpecs, attributes } = success;
  const { check } = getTaskGroup(job, getGroup(job, task.index).groupIndex);
  return {
    replicaId: ending.replicaId,
    machineId,
    jobId: job.jobId,
    taskIndex: task.index,
    outputs: ending.outputs,
    outputSpecs,
    attributes,
    check: job.verification?.kind === 'none' ? '' : check,
  };
}

/** Ends a success. */
export function settle(turn: Turn, success: Success, ending: ReplicaEnding): void {
  const {
    job: { jobId },
    machineId,
  } = success;
  commit(turn, { kind: 'ReplicasEnded', machineId, jobId, endings: [ending], at: turn.now });
}
