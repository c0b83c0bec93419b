import type {
  Content,
  MachineFacts,
  MachineReport,
  Outcome,
  OutputContent,
  ReplicaEnd,
  ReservationName,
  StagingTimes,
} from '@mutirao/core/messages';
import { showText, type Bytes, type ReplicaId } from '@mutirao/core/shared';

import {
  Outcome as OutcomeWire,
  type CancelReplicas as CancelReplicasWire,
  type BlobOffer as BlobOfferWire,
  type BlobRequest as BlobRequestWire,
  type MachineFacts as MachineFactsWire,
  type OutputContent as OutputContentWire,
  type ReplicaEnded as ReplicaEndedWire,
  type StagingTimes as StagingTimesWire,
  type ReplicaStarted as ReplicaStartedWire,
  type Report as ReportWire,
} from '../generated/mutirao/machine/v1/machine.ts';
import type { BlobUpload as BlobUploadWire } from '../generated/mutirao/provider/v1/provider.ts';
import { decodeGangMemberReady, encodeGangMemberReady } from './gang.ts';
import { asBuffer } from '../wire/bytes.ts';
import { decodeCause, encodeCause } from '../reasons/index.ts';
import { decodePath, encodePath } from './byte-names.ts';
import {
  badRequest,
  boundCode,
  boundList,
  boundName,
  boundNumber,
  boundProcessors,
  boundText,
  decodeContent,
  decodeProofText,
  encodeContent,
} from './common.ts';
import { decodeCapacity, decodeUsage, encodeCapacity, encodeUsage } from './resources.ts';

/** Takes replicas back. */
export interface CancelReplicas {
  readonly replicaIds: readonly ReplicaId[];
  /** Leave those that have started. */
  readonly onlyWaiting: boolean;
}

/** A content that a machine lacks. */
export interface WantedContent extends Content {
  /** Bytes of its beginning that are there already, from a transfer that broke; left out for none. */
  readonly offset?: Bytes;
  /** Whether a file of a shared file system will not do; left out where it will. */
  readonly overWire?: boolean;
}

/**
 * What a process that wants contents proves about the home folders that it reads. No proof is of use to anybody but the
 * process whose challenge it is for.
 */
export interface ReaderProofs {
  /** Its own random text. A path that it receives must come with a proof for this text. */
  readonly challenge: string;
  /** One for each key that it found and each challenge that it was sent. */
  readonly homeProofs: readonly string[];
}

/** How a content comes to a machine that lacks it, or why it does not. */
export interface ContentOffer {
  readonly content: Content;
  readonly source:
    | { readonly kind: 'inline'; readonly bytes: Uint8Array }
    /** A stream of its own. `offset`: bytes of its beginning that are left out; none when it is left out itself. */
    | { readonly kind: 'transfer'; readonly transferId: string; readonly offset?: Bytes }
    /**
     * A file that both ends can read. `isLinkable`: nobody writes it any more; else its owner may. `proof`: that the
     * sender reads the receiver's home folder.
     */
    | { readonly kind: 'shared'; readonly path: string; readonly isLinkable: boolean; readonly proof: string }
    /** A code of the error registry. */
    | { readonly kind: 'refused'; readonly reason: string };
}

const outcomesOfWire: readonly (Outcome | undefined)[] = [
  undefined,
  'succeeded',
  'failed',
  'cancelled',
  'limited',
  'broken',
];
const wireOfOutcomes: Readonly<Record<Outcome, OutcomeWire>> = {
  succeeded: OutcomeWire.SUCCEEDED,
  failed: OutcomeWire.FAILED,
  cancelled: OutcomeWire.CANCELLED,
  limited: OutcomeWire.LIMITED,
  broken: OutcomeWire.BROKEN,
};

/** Reads how a replica ended. @throws {MutiraoError} MUT_BAD_REQUEST for a value that this release does not know. */
export function decodeOutcome(wire: OutcomeWire): Outcome {
  const outcome = outcomesOfWire[wire];
  if (outcome === undefined) throw badRequest(`outcome is ${String(wire)}; expected 1 to ${outcomesOfWire.length - 1}`);
  return outcome;
}

/** Writes how a replica ended for the wire; undefined where nobody knows. */
export function encodeOutcome(outcome: Outcome | undefined): OutcomeWire {
  return outcome === undefined ? OutcomeWire.UNSPECIFIED : wireOfOutcomes[outcome];
}

/** A machine that states a longer delay gets no longer queue for it. */
const reportDelayMax = 10_000;

function decodeReportDelay({ reportDelayMs }: MachineFactsWire): Pick<MachineFacts, 'reportDelay'> {
  return reportDelayMs === undefined ? {} : { reportDelay: Math.min(reportDelayMs, reportDelayMax) };
}

function decodeHomeMarks({ homeMarks }: MachineFactsWire): Pick<MachineFacts, 'homeMarks'> {
  boundList(homeMarks, 'proofs', 'facts.home_marks');
  return homeMarks.length === 0
    ? {}
    : { homeMarks: homeMarks.map((mark, index) => decodeProofText(mark, `facts.home_marks[${index}]`)) };
}

/**
 * Reads what a machine is. @throws {MutiraoError} MUT_BAD_REQUEST when it has no name, no incarnation or no processor.
 */
export function decodeMachineFacts(wire: MachineFactsWire | undefined): MachineFacts {
  if (wire === undefined) throw badRequest('facts are absent');
  if (wire.machineId === '') throw badRequest('facts.machine_id is empty');
  if (wire.incarnation === '') throw badRequest('facts.incarnation is empty');
  const machineId = boundName(wire.machineId, 'machineName', 'facts.machine_id');
  const incarnation = boundName(wire.incarnation, 'name', 'facts.incarnation');
  const processors = boundProcessors(wire.processors, 'machineProcessors', 'facts.processors');
  const attributes = decodeAttributes(wire.attributes);
  const requestId = boundName(wire.requestId, 'name', 'facts.request_id');
  const { identity, reservation } = wire;
  checkOptionalFacts(wire);
  return {
    machineId,
    incarnation,
    processors,
    attributes,
    until: wire.untilUnixMs,
    requestId,
    ...(identity === undefined ? {} : { identity }),
    ...(reservation === undefined ? {} : { reservation }),
    ...(wire.takesGangs === true ? { takesGangs: true as const } : {}),
    ...decodeReportDelay(wire),
    ...decodeHomeMarks(wire),
    ...(wire.onlyUserId === undefined ? {} : { onlyUser: wire.onlyUserId }),
    ...decodeCapacity(wire.capacity, 'facts.capacity'),
  };
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
function checkOptionalFacts({ identity, untilUnixMs, reservation, onlyUserId }: MachineFactsWire): void {
  if (onlyUserId !== undefined) boundName(onlyUserId, 'name', 'facts.only_user_id');
  if (identity !== undefined) boundName(identity, 'name', 'facts.identity');
  if (untilUnixMs !== undefined) boundNumber(untilUnixMs, 'instant', 'facts.until_unix_ms');
  if (reservation !== undefined) decodeReservationName(reservation);
}

function decodeAttributes(wire: MachineFactsWire['attributes']): Record<string, string> {
  const attributes: Record<string, string> = {};
  const entries = Object.entries(wire);
  boundList(entries, 'attributes', 'facts.attributes');
  for (const [name, value] of entries) {
    if (boundName(name, 'attributeName', 'the name of an attribute') === '')
      throw badRequest('the name of an attribute is empty');
    attributes[name.toLowerCase()] = boundName(value, 'attributeValue', `attribute ${name}`);
  }
  return attributes;
}

/** Reads the name of a reservation. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeReservationName(wire: ReservationName): ReservationName {
  boundName(wire.resourceId, 'name', 'reservation.resource_id');
  boundName(wire.userId, 'name', 'reservation.user_id');
  boundName(wire.mark, 'name', 'reservation.mark');
  return wire;
}

/** Writes what a machine is for the wire. */
export function encodeMachineFacts(facts: MachineFacts): MachineFactsWire {
  const { machineId, incarnation, processors, requestId, identity } = facts;
  return {
    machineId,
    incarnation,
    processors,
    attributes: { ...facts.attributes },
    untilUnixMs: facts.until,
    requestId,
    sharedTokens: [],
    identity,
    reservation: facts.reservation,
    takesGangs: facts.takesGangs,
    reportDelayMs: facts.reportDelay,
    homeMarks: [...(facts.homeMarks ?? [])],
    onlyUserId: facts.onlyUser,
    capacity: encodeCapacity(facts.capacity),
  };
}

/** Reads which replicas to take back. */
export function decodeCancelReplicas(wire: CancelReplicasWire): CancelReplicas {
  return {
    replicaIds: boundList(wire.replicaIds, 'heldReplicas', 'cancel.replica_ids'),
    onlyWaiting: wire.onlyWaiting,
  };
}

/** Writes which replicas to take back for the wire. */
export function encodeCancelReplicas(cancel: CancelReplicas): CancelReplicasWire {
  return { replicaIds: [...cancel.replicaIds], onlyWaiting: cancel.onlyWaiting };
}

/** Reads a machine's report. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function decodeReport(wire: ReportWire): MachineReport {
  if (wire.sequence < 1) throw badRequest(`report.sequence is ${wire.sequence}; expected 1 or more`);
  boundList(wire.started, 'reportedReplicas', 'report.started');
  boundList(wire.ended, 'reportedReplicas', 'report.ended');
  boundList(wire.gangMemberReady, 'reportedReplicas', 'report.gang_member_ready');
  requireOneEnd(wire.ended);
  return {
    sequence: wire.sequence,
    started: wire.started.map(decodeStarted),
    ended: wire.ended.map(decodeReplicaEnded),
    ...(wire.gangMemberReady.length === 0 ? {} : { gangMemberReady: wire.gangMemberReady.map(decodeGangMemberReady) }),
  };
}

/** The files of each end are kept one after another: a machine could keep the broker busy with one replica. */
function requireOneEnd(ended: ReportWire['ended']): void {
  const known = new Set<number>();
  for (const { replicaId } of ended) {
    if (known.has(replicaId)) throw badRequest(`report.ended has replica ${replicaId} twice; expected it once`);
    known.add(replicaId);
  }
}

function decodeStarted({ replicaId, startedUnixMs }: ReplicaStartedWire): MachineReport['started'][number] {
  if (startedUnixMs < 1) throw badRequest('started.started_unix_ms is 0; expected when it started');
  return { replicaId, startedAt: boundNumber(startedUnixMs, 'instant', 'started.started_unix_ms') };
}

/** Writes a machine's report for the wire. */
export function encodeReport(report: MachineReport): ReportWire {
  return {
    sequence: report.sequence,
    started: report.started.map((one) => ({ replicaId: one.replicaId, startedUnixMs: one.startedAt })),
    ended: report.ended.map(encodeReplicaEnded),
    gangMemberReady: (report.gangMemberReady ?? []).map(encodeGangMemberReady),
  };
}

/** Reads which contents a machine lacks. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function decodeBlobRequest({ contents, offsets, overWire }: BlobRequestWire): WantedContent[] {
  boundList(contents, 'wantedContents', 'contents');
  return contents.map((wire, index) => {
    const content = decodeContent(wire, `contents[${index}]`);
    const offset = offsets[index] ?? 0;
    if (offset > content.size)
      throw badRequest(`offsets[${index}] is ${offset}; expected at most the content's size, ${content.size}`);
    return { ...content, ...(offset === 0 ? {} : { offset }), ...(overWire ? { overWire } : {}) };
  });
}

/** A content that a machine has pushed, or pushes. */
export interface PushedContent {
  readonly transferId: string;
  readonly content: Content;
  /** The provider has it on its disk, and can be asked again. */
  readonly isKept: boolean;
}

/** Reads which content a machine pushes. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeBlobUpload({ transferId, content, isKept }: BlobUploadWire): PushedContent {
  return { transferId: boundName(transferId, 'name', 'transfer_id'), content: decodeContent(content), isKept };
}

/** Reads what the sender proves about the home folders that it reads. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function decodeReaderProofs({ challenge, homeProofs }: BlobRequestWire): ReaderProofs {
  boundList(homeProofs, 'proofs', 'home_proofs');
  return {
    challenge: decodeProofText(challenge, 'challenge'),
    homeProofs: homeProofs.map((proof, index) => decodeProofText(proof, `home_proofs[${index}]`)),
  };
}

/** Encodes the contents that a machine lacks. If one of them must come over the wire, all do. */
export function encodeBlobRequest(
  contents: readonly WantedContent[],
  proofs: ReaderProofs = { challenge: '', homeProofs: [] },
): BlobRequestWire {
  const hasOffset = contents.some(({ offset = 0 }) => offset > 0);
  return {
    contents: contents.map(encodeContent),
    offsets: hasOffset ? contents.map(({ offset = 0 }) => offset) : [],
    overWire: contents.some(({ overWire = false }) => overWire),
    sharedTokens: [],
    challenge: proofs.challenge,
    homeProofs: [...proofs.homeProofs],
  };
}

/** Reads how a content comes. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function decodeBlobOffer(wire: BlobOfferWire): ContentOffer {
  const content = decodeContent(wire.content);
  if (wire.offset > content.size)
    throw badRequest(`blob_offer.offset is ${wire.offset}; expected at most the content's size, ${content.size}`);
  switch (wire.source?.$case) {
    case 'inline':
      return { content, source: { kind: 'inline', bytes: wire.source.value } };
    case 'transferId':
      return {
        content,
        source: {
          kind: 'transfer',
          transferId: boundName(wire.source.value, 'name', 'blob_offer.transfer_id'),
          ...(wire.offset === 0 ? {} : { offset: wire.offset }),
        },
      };
    case 'sharedPath':
      return {
        content,
        source: {
          kind: 'shared',
          path: boundText(wire.source.value, 'path', 'blob_offer.shared_path'),
          isLinkable: wire.linkable,
          proof: decodeProofText(wire.pathProof, 'path_proof'),
        },
      };
    case 'refused':
      return { content, source: { kind: 'refused', reason: boundCode(wire.source.value, 'blob_offer.refused') } };
    case undefined:
      throw badRequest('blob_offer has no source; expected inline, transfer_id, refused or shared_path');
  }
}

/** Writes how a content comes for the wire. */
export function encodeBlobOffer({ content, source }: ContentOffer): BlobOfferWire {
  const wire = { content: encodeContent(content), offset: 0, linkable: false, pathProof: '' };
  switch (source.kind) {
    case 'inline':
      return { ...wire, source: { $case: 'inline', value: asBuffer(source.bytes) } };
    case 'transfer':
      return { ...wire, offset: source.offset ?? 0, source: { $case: 'transferId', value: source.transferId } };
    case 'shared':
      return {
        ...wire,
        linkable: source.isLinkable,
        pathProof: source.proof,
        source: { $case: 'sharedPath', value: source.path },
      };
    case 'refused':
      return { ...wire, source: { $case: 'refused', value: source.reason } };
  }
}

function decodeReplicaEnded(wire: ReplicaEndedWire): ReplicaEnd {
  boundNumber(wire.standardOutput.length, 'streamBytes', 'the length of ended.standard_output');
  boundNumber(wire.standardError.length, 'streamBytes', 'the length of ended.standard_error');
  boundList(wire.outputs, 'outputFiles', 'ended.outputs');
  return {
    replicaId: wire.replicaId,
    outcome: decodeOutcome(wire.outcome),
    exitStatus: wire.exitStatus,
    startedAt: boundNumber(wire.startedUnixMs, 'instant', 'ended.started_unix_ms'),
    endedAt: boundNumber(wire.endedUnixMs, 'instant', 'ended.ended_unix_ms'),
    // A report is not refused for what its words do to a terminal: its machine would lose all that it did.
    reason: showText(boundCode(wire.reason, 'ended.reason')),
    detail: decodeCause(wire.detail, 'ended.detail'),
    standardOutput: wire.standardOutput,
    standardError: wire.standardError,
    outputTruncated: wire.outputTruncated,
    outputs: wire.outputs.map(decodeOutputContent),
    ...(wire.staging === undefined ? {} : { staging: decodeStagingTimes(wire.staging) }),
    ...decodeUsage(wire.usage, 'ended.usage'),
  };
}

function encodeReplicaEnded(end: ReplicaEnd): ReplicaEndedWire {
  return {
    replicaId: end.replicaId,
    outcome: encodeOutcome(end.outcome),
    exitStatus: end.exitStatus,
    startedUnixMs: end.startedAt,
    endedUnixMs: end.endedAt,
    reason: end.reason,
    detail: encodeCause(end.detail),
    standardOutput: asBuffer(end.standardOutput),
    standardError: asBuffer(end.standardError),
    outputTruncated: end.outputTruncated,
    outputs: end.outputs.map(encodeOutputContent),
    staging: encodeStagingTimes(end.staging),
    usage: encodeUsage(end.usage),
  };
}

/** Writes when files were on their way for the wire. */
export function encodeStagingTimes(staging: StagingTimes | undefined): StagingTimesWire | undefined {
  if (staging === undefined) return undefined;
  const { inputsAskedAt, inputsHereAt, inputsPlacingAt, commandEndedAt } = staging;
  return {
    inputsAskedUnixMs: inputsAskedAt,
    inputsHereUnixMs: inputsHereAt,
    inputsPlacingUnixMs: inputsPlacingAt,
    commandEndedUnixMs: commandEndedAt,
  };
}

function decodeStagingTimes(wire: StagingTimesWire): StagingTimes {
  return {
    inputsAskedAt: boundNumber(wire.inputsAskedUnixMs, 'instant', 'staging.inputs_asked_unix_ms'),
    inputsHereAt: boundNumber(wire.inputsHereUnixMs, 'instant', 'staging.inputs_here_unix_ms'),
    inputsPlacingAt: boundNumber(wire.inputsPlacingUnixMs, 'instant', 'staging.inputs_placing_unix_ms'),
    commandEndedAt: boundNumber(wire.commandEndedUnixMs, 'instant', 'staging.command_ended_unix_ms'),
  };
}

function decodeOutputContent(wire: OutputContentWire): OutputContent {
  if (wire.mode > 0o777) throw badRequest(`output.mode is 0o${wire.mode.toString(8)}; expected 0o777 at most`);
  const { outputIndex, mode, inline, transferId } = wire;
  const path = decodePath(wire);
  if (path !== '') requireBelow(path);
  const content = decodeContent(wire.content, 'output.content');
  if (inline !== undefined && inline.length !== content.size)
    throw badRequest(`output.inline has ${inline.length} bytes; expected the ${content.size} of its content`);
  if (transferId !== '') boundName(transferId, 'name', 'output.transfer_id');
  const output = { outputIndex, path, content, mode, inline, transferId };
  return wire.droppedName === ''
    ? output
    : { ...output, droppedName: boundName(wire.droppedName, 'name', 'output.dropped_name') };
}

/**
 * @throws {MutiraoError} MUT_BAD_REQUEST for a path that does not lead to a file below the folder that it begins in.
 */
function requireBelow(path: string): void {
  boundText(path, 'path', 'output.path');
  // The way without any part of a path that is not a name.
  if (/(^|\/)(\.{0,2})(\/|$)/.test(path) || path.includes('\0'))
    throw badRequest(
      `output.path is ${JSON.stringify(path)}; expected a way down from the output, without "." or ".."`,
    );
}

function encodeOutputContent(output: OutputContent): OutputContentWire {
  const { outputIndex, path, mode, transferId, droppedName = '' } = output;
  const inline = output.inline === undefined ? undefined : asBuffer(output.inline);
  return {
    outputIndex,
    ...encodePath(path),
    content: encodeContent(output.content),
    mode,
    inline,
    transferId,
    droppedName,
  };
}
