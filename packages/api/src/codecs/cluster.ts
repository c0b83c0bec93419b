import type { ListedNode, ScoreEntry } from '@mutirao/core/machines/cluster';
import type {
  ClaimedReservation,
  HonouredReservation,
  QueuedRequest,
  QueueListing,
  QueueRanking,
  RequestOrder,
  ResourceLimits,
} from '@mutirao/core/messages';
import type { BucOrder, WalltimeGain } from '@mutirao/core/queue';
import type { UserId } from '@mutirao/core/shared';

import {
  RequestStatus as RequestStatusWire,
  type AllocateRequest,
  type AllocateResponse,
  type ClusterNode as ClusterNodeWire,
  type GetLimitsResponse,
  type GetQueueRequest,
  type GetQueueResponse,
  type GetScoresRequest,
  type GetScoresResponse,
  type HonouredReservation as HonouredReservationWire,
  type QueuedRequest as QueuedRequestWire,
  type QueueRanking as QueueRankingWire,
  type ReleaseRequest,
  type WalltimeGain as WalltimeGainWire,
} from '../generated/mutirao/cluster/v1/cluster.ts';
import { clip } from '../limits.ts';
import { decodeNodes, decodeSlot, encodeNodes, encodeSlot } from './slots.ts';
import { badRequest, boundList, boundName, boundNumber, boundProcessors, boundText } from './common.ts';

/** Most words of a request's command, and most variables of its environment. */
export const orderWordsMax = 4096;

const textLengthMax = 131_072;

/** Most ended requests that one listing shows. */
export const endedListedMax = 10_000;

/**
 * Reads an order. The limits of the cluster are the cluster's to check. @throws {MutiraoError} MUT_BAD_REQUEST with the
 * value found and wanted.
 */
export function decodeAllocateRequest(wire: AllocateRequest): RequestOrder {
  boundProcessors(wire.widthProcessors, 'resourceProcessors', 'width_processors');
  if (wire.walltimeMs < 1) throw badRequest(`walltime_ms is ${wire.walltimeMs}; expected 1 or more`);
  boundNumber(wire.walltimeMs, 'duration', 'walltime_ms');
  if ((wire.command[0] ?? '') === '') throw badRequest('command is empty');
  if (wire.command.length > orderWordsMax)
    throw badRequest(`command has ${wire.command.length} words; expected at most ${orderWordsMax}`);
  if (wire.workingDirectory !== '' && !wire.workingDirectory.startsWith('/')) {
    throw badRequest(`working_directory is ${JSON.stringify(wire.workingDirectory)}; expected an absolute path`);
  }
  return {
    userId: text('user_id', wire.userId, 256),
    width: wire.widthProcessors,
    walltime: wire.walltimeMs,
    command: wire.command.map((word, index) => text(`command[${index}]`, word)),
    environment: decodeEnvironment(wire.environment),
    workingDirectory: text('working_directory', wire.workingDirectory),
    clientRequestId: text('client_request_id', wire.clientRequestId, 256),
    ...decodeSlot(wire.slot, 'slot'),
  };
}

/** Writes an order for the wire. */
export function encodeAllocateRequest(
  order: RequestOrder & { readonly reservation?: ClaimedReservation },
): AllocateRequest {
  return {
    userId: order.userId,
    widthProcessors: order.width,
    walltimeMs: order.walltime,
    command: [...order.command],
    environment: { ...order.environment },
    clientRequestId: order.clientRequestId,
    workingDirectory: order.workingDirectory,
    slot: encodeSlot(order.slot),
    reservationClaim: order.reservation?.claim ?? '',
  };
}

/** How a cluster answers an order. */
export interface AllocateAnswer {
  readonly requestId: number;
  /** What a tighter walltime would have gained; left out where that is not known, or nothing. */
  readonly gain?: WalltimeGain;
}

/** Writes the answer to an order. */
export function encodeAllocateResponse({ requestId, gain }: AllocateAnswer): AllocateResponse {
  return {
    requestId: String(requestId),
    walltimeGain:
      gain === undefined
        ? undefined
        : {
            walltimeMs: gain.walltime,
            aheadCount: gain.aheadCount,
            tighterAheadCount: gain.tighterAheadCount,
            expectedWaitMs: gain.expectedWait,
            tighterExpectedWaitMs: gain.tighterExpectedWait,
          },
  };
}

/**
 * Reads the answer to an order. @throws {MutiraoError} MUT_BAD_REQUEST for a request without a name, or a gain out of
 * range.
 */
export function decodeAllocateResponse({ requestId, walltimeGain }: AllocateResponse): {
  readonly requestId: string;
  readonly walltimeGain: WalltimeGainWire | undefined;
} {
  if (boundName(requestId, 'name', 'request_id') === '')
    throw badRequest('request_id is empty; expected the name of the request');
  if (walltimeGain !== undefined) {
    const { walltimeMs, expectedWaitMs, tighterExpectedWaitMs } = walltimeGain;
    for (const [name, value] of Object.entries({ walltimeMs, expectedWaitMs, tighterExpectedWaitMs }))
      boundNumber(value ?? 0, 'duration', `walltime_gain.${name}`);
  }
  return { requestId, walltimeGain };
}

/**
 * Reads whose score is asked for; undefined for everybody's. @throws {MutiraoError} MUT_BAD_REQUEST for a name that is
 * too long.
 */
export function decodeGetScoresRequest(wire: GetScoresRequest): UserId | undefined {
  return wire.userId === '' ? undefined : text('user_id', wire.userId, 256);
}

/** Scores, and how they order the queue. */
export interface ScoresAnswer {
  /** Undefined where the queue is in the order of arrival. */
  readonly order: BucOrder | undefined;
  readonly scores: readonly ScoreEntry[];
}

/** Writes scores for the wire. */
export function encodeScores({ order, scores }: ScoresAnswer): GetScoresResponse {
  return {
    ordersQueue: order !== undefined,
    weight: order?.weight ?? 0,
    leadMsMax: order?.leadMax ?? 0,
    scores: scores.map(({ userId, score, countedCount, precisionMean }) => ({
      userId,
      score,
      countedCount,
      precisionMean,
    })),
  };
}

/**
 * Reads which request to release. @throws {MutiraoError} MUT_BAD_REQUEST when it is not a number that a cluster gives.
 */
export function decodeReleaseRequest(wire: ReleaseRequest): number {
  if (!/^[1-9][0-9]{0,14}$/.test(wire.requestId))
    throw badRequest(`request_id is ${JSON.stringify(wire.requestId)}; expected a number counted from 1`);
  return Number(wire.requestId);
}

/** What is asked of a queue. */
export interface QueueQuery {
  readonly endedMax: number;
  /** Whose requests the ranking is wanted of; empty for the caller's. */
  readonly userId: UserId;
}

/**
 * Reads what to list. @throws {MutiraoError} MUT_BAD_REQUEST for too many ended requests, and for a name that is too
 * long.
 */
export function decodeGetQueueRequest(wire: GetQueueRequest): QueueQuery {
  if (wire.endedMax > endedListedMax)
    throw badRequest(`ended_max is ${wire.endedMax}; expected at most ${endedListedMax}`);
  return { endedMax: wire.endedMax, userId: text('user_id', wire.userId, 256) };
}

/** Writes limits for the wire. */
export function encodeLimitsOf(limits: ResourceLimits): GetLimitsResponse {
  return {
    processors: limits.processors,
    requestsMax: limits.requestsMax,
    walltimeMsMax: limits.walltimeMax,
    widthProcessorsMax: limits.widthMax,
    walltimeGranularityMs: limits.walltimeGranularity,
    nodes: encodeNodes(limits.nodes),
  };
}

/** Reads limits. @throws {MutiraoError} MUT_BAD_REQUEST when one of them allows nothing. */
export function decodeLimitsOf(wire: GetLimitsResponse): ResourceLimits {
  const limits = {
    processors: wire.processors,
    requestsMax: wire.requestsMax,
    walltimeMax: wire.walltimeMsMax,
    widthMax: wire.widthProcessorsMax,
    walltimeGranularity: wire.walltimeGranularityMs,
  };
  for (const [name, value] of Object.entries(limits))
    if (value < 1) throw badRequest(`${name} is ${value}; expected 1 or more`);
  boundNumber(limits.processors, 'resourceProcessors', 'processors');
  boundNumber(limits.widthMax, 'resourceProcessors', 'width_processors_max');
  boundNumber(limits.walltimeMax, 'duration', 'walltime_ms_max');
  boundNumber(limits.walltimeGranularity, 'duration', 'walltime_granularity_ms');
  return { ...limits, ...decodeNodes(wire.nodes, 'nodes') };
}

/** Writes a listing for the wire. @param nodes of a cluster that has some. */
export function encodeQueueListing(listing: QueueListing, nodes: readonly ListedNode[] = []): GetQueueResponse {
  return {
    atUnixMs: listing.at,
    processorsFree: listing.processorsFree,
    requests: listing.requests.map(encodeQueuedRequest),
    reservations: (listing.reservations ?? []).map(encodeReservation),
    ranking:
      listing.ranking === undefined
        ? undefined
        : { weight: listing.ranking.weight, leadMsMax: listing.ranking.leadMax, score: listing.ranking.score },
    nodes: nodes.map(encodeNode),
  };
}

function encodeNode({ name, processors, memory, gpus, ...free }: ListedNode): ClusterNodeWire {
  return {
    name,
    processors,
    processorsFree: free.processorsFree,
    memoryBytes: memory,
    memoryBytesFree: free.memoryFree,
    gpus: gpus.map(({ id, kind }) => ({ gpuId: id, kind, isFree: free.gpusFree.includes(id) })),
    isAway: free.isAway,
  };
}

/** Reads a listing. @throws {MutiraoError} MUT_BAD_REQUEST for a status that this release does not know. */
export function decodeQueueListing(wire: GetQueueResponse): QueueListing {
  boundList(wire.requests, 'requests', 'requests');
  boundList(wire.reservations, 'reservations', 'reservations');
  return {
    at: boundNumber(wire.atUnixMs, 'instant', 'at_unix_ms'),
    processorsFree: boundNumber(wire.processorsFree, 'resourceProcessors', 'processors_free'),
    requests: wire.requests.map(decodeQueuedRequest),
    ...(wire.reservations.length === 0 ? {} : { reservations: wire.reservations.map(decodeReservation) }),
    ...(wire.ranking === undefined ? {} : { ranking: decodeRanking(wire.ranking) }),
  };
}

function decodeRanking({ weight, leadMsMax, score }: QueueRankingWire): QueueRanking {
  if (!(weight > 0 && score >= 0 && score <= 100))
    throw badRequest(
      `ranking has a weight of ${weight} and a score of ${score}; expected a weight above 0 and a score from 0 to 100`,
    );
  if (!(weight < Infinity)) throw badRequest('ranking has a weight without end; expected a number');
  return { weight, leadMax: boundNumber(leadMsMax, 'duration', 'ranking.lead_ms_max'), score };
}

const statuses = [
  ['queued', RequestStatusWire.QUEUED],
  ['running', RequestStatusWire.RUNNING],
  ['ended', RequestStatusWire.ENDED],
] as const;

function encodeReservation({
  reservationId,
  userId,
  count,
  usedCount,
  startsAt,
  endsAt,
  lateBy,
}: HonouredReservation): HonouredReservationWire {
  return {
    reservationId,
    userId,
    processors: count,
    processorsUsed: usedCount,
    startUnixMs: startsAt,
    endUnixMs: endsAt,
    lateMs: lateBy,
  };
}

function decodeReservation({
  reservationId,
  userId,
  processors,
  processorsUsed,
  startUnixMs,
  endUnixMs,
  lateMs,
}: HonouredReservationWire): HonouredReservation {
  if (reservationId < 1) throw badRequest(`reservation_id is ${reservationId}; expected 1 or more`);
  if (endUnixMs <= startUnixMs)
    throw badRequest(
      `reservation ${reservationId} is from ${startUnixMs} to ${endUnixMs}; expected it to end after its start`,
    );
  return {
    reservationId,
    userId: boundName(userId, 'name', 'reservation.user_id'),
    count: boundNumber(processors, 'resourceProcessors', 'reservation.processors'),
    usedCount: boundNumber(processorsUsed, 'resourceProcessors', 'reservation.processors_used'),
    startsAt: startUnixMs,
    endsAt: boundNumber(endUnixMs, 'instant', 'reservation.end_unix_ms'),
    lateBy: boundNumber(lateMs, 'duration', 'reservation.late_ms'),
  };
}

function encodeQueuedRequest(request: QueuedRequest): QueuedRequestWire {
  return {
    requestId: request.managerRequestId,
    userId: request.userId,
    widthProcessors: request.width,
    walltimeMs: request.walltime,
    status: statuses.find(([status]) => status === request.status)?.[1] ?? RequestStatusWire.UNSPECIFIED,
    submittedUnixMs: request.submittedAt,
    startsUnixMs: request.startsAt,
    endedUnixMs: request.endedAt,
    endReason: clip(request.endReason),
    clientRequestId: request.clientRequestId,
    reservationId: request.reservationId ?? 0,
    rankedUnixMs: request.rankedAt ?? 0,
    slot: encodeSlot(request.slot),
  };
}

function decodeQueuedRequest(wire: QueuedRequestWire): QueuedRequest {
  const status = statuses.find(([, wireStatus]) => wireStatus === wire.status)?.[0];
  if (status === undefined)
    throw badRequest(`status of request ${wire.requestId} is ${wire.status}; expected queued, running or ended`);
  return {
    managerRequestId: boundName(wire.requestId, 'name', 'request_id'),
    userId: boundName(wire.userId, 'name', 'user_id'),
    width: boundProcessors(wire.widthProcessors, 'resourceProcessors', 'width_processors'),
    walltime: boundNumber(wire.walltimeMs, 'duration', 'walltime_ms'),
    status,
    submittedAt: boundNumber(wire.submittedUnixMs, 'instant', 'submitted_unix_ms'),
    startsAt: boundNumber(wire.startsUnixMs, 'instant', 'starts_unix_ms'),
    endedAt: boundNumber(wire.endedUnixMs, 'instant', 'ended_unix_ms'),
    endReason: boundText(wire.endReason, 'text', 'end_reason'),
    clientRequestId: boundName(wire.clientRequestId, 'name', 'client_request_id'),
    ...(wire.reservationId === 0 ? {} : { reservationId: wire.reservationId }),
    ...decodeSlot(wire.slot, 'slot'),
    ...(wire.rankedUnixMs === 0 ? {} : { rankedAt: boundNumber(wire.rankedUnixMs, 'instant', 'ranked_unix_ms') }),
  };
}

function decodeEnvironment(wire: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(wire);
  if (entries.length > orderWordsMax)
    throw badRequest(`environment has ${entries.length} variables; expected at most ${orderWordsMax}`);
  for (const [name, value] of entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw badRequest(`environment has the name ${JSON.stringify(name)}; expected letters, digits and _`);
    text(`environment ${name}`, value);
  }
  return Object.fromEntries(entries);
}

function text(name: string, value: string, lengthMax = textLengthMax): string {
  if (Buffer.byteLength(value) > lengthMax)
    throw badRequest(`${name} has ${Buffer.byteLength(value)} bytes; expected at most ${lengthMax}`);
  if (value.includes('\0')) throw badRequest(`${name} holds a NUL character`);
  return value;
}
