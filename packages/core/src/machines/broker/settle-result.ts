import { invariant } from '../../shared/index.ts';
import type { ReplicaEnding, ReplicaFate } from './changes.ts';
import { statusAlone } from './endings.ts';
import type { InputOf } from './inputs.ts';
import type { BrokerCommand } from './commands.ts';
import type { OpenTask, Success } from './state.ts';
import { getGroup, getTaskGroup } from './task-groups.ts';
import { cancelReplica, commit, type Turn } from './turn.ts';

/** Has the first success of a task brought home and checked. */
export function askToAccept(turn: Turn, task: OpenTask): void {
  const success = task.successes?.[0];
  invariant(success, `task ${task.index} has no success to accept`);
  turn.commands.push(acceptCommand(success));
}

/** What the driver must do to settle a success. */
export function acceptCommand(success: Success): BrokerCommand {
  const { job, task, machineId, ending, outputSpecs, attributes } = success;
  const { check } = getTaskGroup(job, getGroup(job, task.index).groupIndex);
  return {
    kind: 'AcceptResult', replicaId: ending.replicaId, machineId, jobId: job.jobId, taskIndex: task.index,
    outputs: ending.outputs, outputSpecs, check, attributes,
  };
}

/** Takes a result that is home and checked as the task's, and lets all sisters go. */
export function acceptResult(turn: Turn, input: InputOf<'ResultAccepted'>): void {
  const success = turn.state.successes.get(input.replicaId);
  if (success === undefined) return;
  const { task } = success;
  for (const sister of task.replicas) cancelReplica(turn, sister);
  const surplus = task.successes?.filter((other) => other !== success) ?? [];
  settle(turn, success, { ...success.ending, fate: 'accepted', taskStatus: 'finished' });
  for (const other of surplus) settle(turn, other, { ...other.ending, fate: 'surplus', taskStatus: 'finished' });
}

/** Counts a result that could not be brought home or did not pass its check as a failure, and turns to the next success. */
export function refuseResult(turn: Turn, input: InputOf<'ResultRefused'>): void {
  const success = turn.state.successes.get(input.replicaId);
  if (success === undefined) return;
  const { task } = success;
  const fate = success.job.status === 'cancelled' ? 'cancelled' : 'failed';
  const { reason, detail } = input;
  settle(turn, success, { ...success.ending, fate, taskStatus: statusWithout(turn, success, fate), reason, detail });
  if (task.successes !== undefined) askToAccept(turn, task);
}

function statusWithout(turn: Turn, { job, task }: Success, fate: ReplicaFate): ReplicaEnding['taskStatus'] {
  if ((task.successes?.length ?? 0) > 1) return 'verifying';
  if (task.replicas.length > 0) return 'running';
  if (fate === 'cancelled') return 'cancelled';
  return statusAlone(task, { fate, failuresMax: job.failuresMax, lossesMax: turn.state.options.lossesMax });
}

function settle(turn: Turn, success: Success, ending: ReplicaEnding): void {
  const { job: { jobId }, machineId } = success;
  commit(turn, { kind: 'ReplicasEnded', machineId, jobId, endings: [ending], at: turn.now });
}
