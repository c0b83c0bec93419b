import type { Cause } from '../../reasons/index.ts';
import { condemn } from './deadlines.ts';
import { endReplica, success } from './end-replica.ts';
import type { AgentInput } from './inputs.ts';
import { loseRunner } from './runners.ts';
import type { HeldReplica, ProcessResult, Verdict } from './state.ts';
import type { Turn } from './turn.ts';

/** A process ended: the replica ends too, or its outputs are collected first. */
export function finishProcess(turn: Turn, input: Extract<AgentInput, { kind: 'ProcessEnded' }>): void {
  const replica = findHeld(turn, input.replicaId, 'running');
  if (replica === undefined) return;
  replica.result = input.result;
  if (input.isRunnerGone === true) loseRunner(turn, replica);
  replica.processEndedAt = turn.now;
  replica.deadline = undefined;
  const verdict = replica.verdict ?? input.verdict ?? judge(replica, input.result);
  if (replica.start.outputs.length === 0 || !bringsOutputs(replica, verdict)) return endReplica(turn, replica, verdict);
  // The outputs of a failed task help to find the cause; its end counts.
  if (verdict.outcome !== 'succeeded') replica.verdict = verdict;
  replica.status = 'ending';
  replica.commandEndedAt = turn.now;
  turn.commands.push({ kind: 'CollectOutputs', replica });
}

/** Outputs are collected, and pushed where they are large. */
export function finishCollection(turn: Turn, input: Extract<AgentInput, { kind: 'OutputsCollected' }>): void {
  const replica = findHeld(turn, input.replicaId, 'ending');
  if (replica === undefined) return;
  if (replica.verdict === undefined) endReplica(turn, replica, success, input.outputs);
  else endReplica(turn, replica, replica.verdict, bringsOutputs(replica, replica.verdict) ? input.outputs : []);
}

/** Whether a process that ran to its end, or to a limit, may have left outputs that are needed. */
function bringsOutputs({ start }: HeldReplica, { outcome }: Verdict): boolean {
  return outcome === 'succeeded' || (start.onSuccessOnly !== true && (outcome === 'failed' || outcome === 'limited'));
}

/** Inputs could not be put in place. */
export function failStaging(turn: Turn, replicaId: number, verdict: Verdict): void {
  const replica = findHeld(turn, replicaId, 'staging');
  if (replica !== undefined) endReplica(turn, replica, replica.verdict ?? verdict);
}

/**
 * Outputs could not be collected. If that is the task's own fault, such as a missing output, the others are collected
 * as those of a failed task: otherwise the results would be lost with its playpen.
 */
export function failCollection(turn: Turn, replicaId: number, verdict: Verdict): void {
  const replica = findHeld(turn, replicaId, 'ending');
  if (replica === undefined) return;
  if (replica.verdict !== undefined || verdict.outcome !== 'failed' || !bringsOutputs(replica, verdict))
    return endReplica(turn, replica, replica.verdict ?? verdict);
  replica.verdict = verdict;
  turn.commands.push({ kind: 'CollectOutputs', replica });
}

/** A task holds more than it may. */
export function limitReplica(turn: Turn, input: Extract<AgentInput, { kind: 'LimitExceeded' }>): void {
  const replica = findHeld(turn, input.replicaId, 'running');
  if (replica !== undefined) condemn(turn, replica, { outcome: 'limited', reason: input.reason, detail: input.detail });
}

/** The replica, when it is in that state; otherwise the input is stale. */
export function findHeld(turn: Turn, replicaId: number, status: HeldReplica['status']): HeldReplica | undefined {
  const replica = turn.state.replicas.get(replicaId);
  return replica?.status === status ? replica : undefined;
}

function judge(replica: HeldReplica, result: ProcessResult): Verdict {
  const { outputMax } = replica.template.limits;
  if (outputMax > 0 && result.outputBytes > outputMax) {
    return {
      outcome: 'limited',
      reason: 'MUT_OUTPUT_MAX',
      detail: { code: 'output-limit-exceeded', outputBytes: result.outputBytes, outputBytesMax: outputMax },
    };
  }
  const { exitStatus, signal } = result;
  if (exitStatus === 0) return success;
  if (exitStatus === 127) return { outcome: 'failed', reason: 'MUT_COMMAND_NOT_FOUND', detail: getNotFound(replica) };
  if (exitStatus === 126)
    return { outcome: 'failed', reason: 'MUT_COMMAND_NOT_FOUND', detail: { code: 'command-not-executable' } };
  return {
    outcome: 'failed',
    reason: 'MUT_COMMAND_FAILED',
    detail: signal === undefined ? readExitStatus(exitStatus) : { code: 'ended-by-signal', signalNumber: signal },
  };
}

function getNotFound({ template: { workFolder } }: HeldReplica): Cause {
  return { code: 'command-not-found', ...(workFolder === undefined ? {} : { workFolder: workFolder.path }) };
}

const signalMax = 64;

/** A status above 128 is ambiguous: a shell that ran the command gives it too where a signal ended that. */
function readExitStatus(exitStatus: number): Cause {
  const signalNumber = exitStatus - 128;
  return signalNumber > 0 && signalNumber <= signalMax
    ? { code: 'exit-status-of-signal', exitStatus, signalNumber }
    : { code: 'exit-status', exitStatus };
}
