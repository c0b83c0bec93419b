import type { OutputContent, ReplicaEnd, StagingTimes } from '../../messages/index.ts';
import { invariant, type Instant, type ReplicaId } from '../../shared/index.ts';
import { releaseContents } from './release-contents.ts';
import { leavePlace } from './runners.ts';
import type { HeldReplica, ProcessResult, Verdict } from './state.ts';
import type { Turn } from './turn.ts';
import { findSureAt, holdEnd } from './unsure-ends.ts';

const noBytes = new Uint8Array(0);
const noOutputs: readonly OutputContent[] = [];

/** The result of a replica that had no process. */
export const noResult: ProcessResult = {
  exitStatus: 0,
  standardOutput: noBytes,
  standardError: noBytes,
  outputTruncated: false,
  outputBytes: 0,
};

/** The verdict on a replica that did what it should. */
export const success: Verdict = { outcome: 'succeeded', reason: '', detail: '' };

/** What `endReplica` reports in addition to the verdict. */
export interface EndFacts {
  readonly startedAt: Instant;
  readonly result: ProcessResult;
  readonly outputs: readonly OutputContent[];
  /** Left out where nothing was brought. */
  readonly staging?: StagingTimes;
  /** When the end of its process can be reported; left out for one without a process. */
  readonly sureAt?: Instant;
}

/** Of a replica that never ran. */
export const neverRan: EndFacts = { startedAt: 0, result: noResult, outputs: noOutputs };

/** Notes the end of a replica for the next report. Every accepted replica comes here exactly once. */
export function reportEnd(turn: Turn, replicaId: ReplicaId, verdict: Verdict, facts: EndFacts): void {
  const { state, now } = turn;
  const { exitStatus, standardOutput, standardError, outputTruncated, usage } = facts.result;
  const end: ReplicaEnd = {
    replicaId,
    outcome: verdict.outcome,
    exitStatus,
    startedAt: facts.startedAt,
    endedAt: now,
    reason: verdict.reason,
    detail: verdict.detail,
    standardOutput,
    standardError,
    outputTruncated,
    outputs: facts.outputs,
    ...(facts.staging === undefined ? {} : { staging: facts.staging }),
    ...(usage === undefined ? {} : { usage }),
  };
  if (facts.sureAt === undefined) state.unreportedEnds.push(end);
  else holdEnd(state, end, facts.sureAt);
  state.endedIds.add(replicaId);
  state.endedBytes += countBytes(end);
}

/** Ends a held replica: its processors and contents are free again. The queue is the caller's to keep. */
export function endReplica(
  turn: Turn,
  replica: HeldReplica,
  verdict: Verdict,
  outputs: readonly OutputContent[] = noOutputs,
): void {
  const { state, commands } = turn;
  const { replicaId } = replica.start;
  invariant(state.replicas.delete(replicaId), `replica ${replicaId} ended twice`);
  if (replica.start.gang !== undefined) releaseMember(turn, replicaId);
  const [first] = replica.slots;
  if (first !== undefined) {
    commands.push({ kind: 'RemovePlaypen', slot: first });
    leavePlace(turn, replica);
  }
  releaseContents(turn, replica);
  reportEnd(turn, replicaId, verdict, {
    startedAt: replica.startedAt,
    result: replica.result ?? noResult,
    outputs,
    ...getStaging(replica),
    ...getSureAt(turn, replica, verdict),
  });
}

function getSureAt(turn: Turn, replica: HeldReplica, verdict: Verdict): Pick<EndFacts, 'sureAt'> {
  return replica.processEndedAt === 0 ? {} : { sureAt: findSureAt(turn, replica, verdict) };
}

function getStaging({
  inputsAskedAt,
  inputsHereAt,
  inputsPlacingAt,
  commandEndedAt,
}: HeldReplica): Pick<EndFacts, 'staging'> {
  return inputsAskedAt + inputsPlacingAt + commandEndedAt === 0
    ? {}
    : { staging: { inputsAskedAt, inputsHereAt, inputsPlacingAt, commandEndedAt } };
}

function releaseMember({ state, commands }: Turn, replicaId: ReplicaId): void {
  state.unreportedHolds = state.unreportedHolds.filter((held) => held.replicaId !== replicaId);
  commands.push({ kind: 'ReleaseMember', replicaId });
}

/** Bytes of output that an end keeps in memory until it is acknowledged. */
export function countBytes(end: ReplicaEnd): number {
  let bytes = end.standardOutput.length + end.standardError.length;
  for (const output of end.outputs) bytes += output.inline?.length ?? 0;
  return bytes;
}
