import type {
  AllocationRequest,
  Demand,
  DrainingStatus,
  RequestCandidate,
  RequestReservation,
  RequestStatus,
  ReservationName,
  ReservedStatus,
  ReservedDemand,
  TimeQuantiles,
} from '@mutirao/core/messages';

import {
  RequestStatus as RequestStatusWire,
  type AllocationRequest as AllocationRequestWire,
  type Demand as DemandWire,
  type DrainingStatus as DrainingStatusWire,
  type RequestCandidate as RequestCandidateWire,
  type RequestReservation as RequestReservationWire,
  type ReservedStatus as ReservedStatusWire,
  type ReservedDemand as ReservedDemandWire,
  type TaskTimes as TaskTimesWire,
} from '../generated/mutirao/provider/v1/provider.ts';
import { readClaim } from './claim.ts';
import { clip, limits } from '../limits.ts';
import { decodeReasons, encodeReasons } from '../reasons/index.ts';
import { badRequest, boundCode, boundList, boundName, boundNumber, boundProcessors, boundText } from './common.ts';
import { decodeReservationName } from './machine.ts';
import { decodeSlot, encodeSlot } from './slots.ts';
import { decodeProvisioning, encodeProvisioning } from './reservation.ts';

const statusesOfWire: readonly (RequestStatus | undefined)[] = [
  undefined,
  'drafted',
  'submitting',
  'queued',
  'running',
  'ended',
  'rejected',
  'vanished',
];
const wireOfStatuses: Readonly<Record<RequestStatus, RequestStatusWire>> = {
  drafted: RequestStatusWire.DRAFTED,
  submitting: RequestStatusWire.SUBMITTING,
  queued: RequestStatusWire.QUEUED,
  running: RequestStatusWire.RUNNING,
  ended: RequestStatusWire.ENDED,
  rejected: RequestStatusWire.REJECTED,
  vanished: RequestStatusWire.VANISHED,
};

/** Reads what a broker still wants. @throws {MutiraoError} MUT_BAD_REQUEST when a task would need no processor. */
export function decodeDemand(wire: DemandWire): Demand {
  boundList(wire.reserved, 'reservations', 'demand.reserved');
  if (wire.gangProcessors !== undefined)
    boundNumber(wire.gangProcessors, 'resourceProcessors', 'demand.gang_processors');
  return {
    pendingTasks: boundNumber(wire.pendingTasks, 'tasks', 'demand.pending_tasks'),
    processors: boundProcessors(wire.processors, 'resourceProcessors', 'demand.processors'),
    taskTimeMax: boundOptional(wire.taskTimeMsMax, 'duration', 'demand.task_time_ms_max'),
    taskTimeMean: boundOptional(wire.taskTimeMsMean, 'duration', 'demand.task_time_ms_mean'),
    deadline: boundOptional(wire.deadlineUnixMs, 'instant', 'demand.deadline_unix_ms'),
    userId: boundName(wire.userId, 'name', 'demand.user_id'),
    ...(wire.unplacedTasks === undefined
      ? {}
      : { unplacedTasks: boundNumber(wire.unplacedTasks, 'tasks', 'demand.unplaced_tasks') }),
    ...(wire.gangProcessors === undefined ? {} : { gangProcessors: wire.gangProcessors }),
    ...(wire.statedTimeMs === undefined
      ? {}
      : { statedTime: boundNumber(wire.statedTimeMs, 'duration', 'demand.stated_time_ms') }),
    ...decodeSlot(wire.slot, 'demand.slot'),
    ...(wire.otherProcessors === undefined
      ? {}
      : { otherProcessors: boundNumber(wire.otherProcessors, 'resourceProcessors', 'demand.other_processors') }),
    ...(wire.taskTimes === undefined ? {} : { taskTimes: decodeTaskTimes(wire.taskTimes) }),
    ...(wire.reserved.length === 0 ? {} : { reserved: wire.reserved.map(decodeReserved) }),
  };
}

function boundOptional(value: number | undefined, limit: 'duration' | 'instant', name: string): number | undefined {
  return value === undefined ? undefined : boundNumber(value, limit, name);
}

/** Users may state longer times than a provider takes. */
function atMost(value: number | undefined, limit: 'duration' | 'instant'): number | undefined {
  return value === undefined ? undefined : Math.min(value, limits[limit].max);
}

/** Writes what a broker still wants for the wire. */
export function encodeDemand(demand: Demand): DemandWire {
  return {
    pendingTasks: demand.pendingTasks,
    processors: demand.processors,
    taskTimeMsMax: atMost(demand.taskTimeMax, 'duration'),
    taskTimeMsMean: atMost(demand.taskTimeMean, 'duration'),
    deadlineUnixMs: atMost(demand.deadline, 'instant'),
    userId: demand.userId,
    unplacedTasks: demand.unplacedTasks,
    gangProcessors: demand.gangProcessors,
    taskTimes: demand.taskTimes && encodeTaskTimes(demand.taskTimes),
    statedTimeMs: atMost(demand.statedTime, 'duration'),
    reserved: (demand.reserved ?? []).map(encodeReserved),
    slot: encodeSlot(demand.slot),
    otherProcessors:
      demand.otherProcessors === undefined
        ? undefined
        : Math.min(demand.otherProcessors, limits.resourceProcessors.max),
  };
}

function encodeReserved({ claim, processors, startsAt, endsAt, amount, hasMoved }: ReservedDemand): ReservedDemandWire {
  const moved =
    hasMoved === true
      ? { startUnixMs: startsAt, endUnixMs: endsAt, reservedProcessors: amount }
      : { startUnixMs: undefined, endUnixMs: undefined, reservedProcessors: undefined };
  return { claim, processors, ...moved };
}

function decodeReserved(
  { claim, processors, startUnixMs, endUnixMs, reservedProcessors }: ReservedDemandWire,
  index: number,
): ReservedDemand {
  boundProcessors(processors, 'resourceProcessors', `demand.reserved[${index}].processors`);
  const movedTo = decodeWindow(startUnixMs, endUnixMs, reservedProcessors);
  return { ...readClaim(claim), ...(movedTo === undefined ? {} : { ...movedTo, hasMoved: true }), processors };
}

function decodeTaskTimes({ endedCount, cutOffCount, p50Ms, p90Ms, ninetyNinthMsMax }: TaskTimesWire): TimeQuantiles {
  return {
    count: boundNumber(endedCount, 'tasks', 'task_times.ended_count'),
    censoredCount: boundNumber(cutOffCount, 'tasks', 'task_times.cut_off_count'),
    median: boundOptional(p50Ms, 'duration', 'task_times.p50_ms'),
    ninetieth: boundOptional(p90Ms, 'duration', 'task_times.p90_ms'),
    ninetyNinth: boundOptional(ninetyNinthMsMax, 'duration', 'task_times.ninety_ninth_ms_max'),
  };
}

/** Writes how long tasks take for the wire. */
export function encodeTaskTimes({
  count,
  censoredCount,
  median,
  ninetieth,
  ninetyNinth,
}: TimeQuantiles): TaskTimesWire {
  return {
    endedCount: count,
    cutOffCount: censoredCount,
    p50Ms: atMost(median, 'duration'),
    p90Ms: atMost(ninetieth, 'duration'),
    ninetyNinthMsMax: atMost(ninetyNinth, 'duration'),
  };
}

/** Reads an allocation request. @throws {MutiraoError} MUT_BAD_REQUEST for a status that this release does not know. */
export function decodeAllocationRequest(wire: AllocationRequestWire): AllocationRequest {
  const status = statusesOfWire[wire.status];
  if (status === undefined)
    throw badRequest(`request.status is ${String(wire.status)}; expected 1 to ${statusesOfWire.length - 1}`);
  boundList(wire.candidates, 'candidates', 'request.candidates');
  return {
    providerId: boundName(wire.providerId, 'name', 'request.provider_id'),
    requestId: boundName(wire.requestId, 'name', 'request.request_id'),
    managerRequestId: boundName(wire.managerRequestId, 'name', 'request.manager_request_id'),
    width: boundNumber(wire.widthProcessors, 'resourceProcessors', 'request.width_processors'),
    walltime: boundNumber(wire.walltimeMs, 'duration', 'request.walltime_ms'),
    status,
    seenAt: boundNumber(wire.seenUnixMs, 'instant', 'request.seen_unix_ms'),
    submittedAt: boundNumber(wire.submittedUnixMs, 'instant', 'request.submitted_unix_ms'),
    startedAt: boundNumber(wire.startedUnixMs, 'instant', 'request.started_unix_ms'),
    endedAt: boundNumber(wire.endedUnixMs, 'instant', 'request.ended_unix_ms'),
    reasons: decodeReasons(wire.reasons, 'request.reasons'),
    heuristic: boundName(wire.heuristic, 'name', 'request.heuristic'),
    ...(wire.candidates.length === 0 ? {} : { candidates: wire.candidates.map(decodeCandidate) }),
    ...(wire.reservation?.name === undefined
      ? {}
      : { reservation: decodeReservation(wire.reservation.name, wire.reservation) }),
    ...(wire.endCode === undefined ? {} : { endCode: boundCode(wire.endCode, 'request.end_code') }),
    ...decodeSlot(wire.slot, 'request.slot'),
  };
}

/** Writes an allocation request for the wire. */
export function encodeAllocationRequest(request: AllocationRequest): AllocationRequestWire {
  const { providerId, requestId, managerRequestId, heuristic } = request;
  return {
    providerId,
    requestId,
    managerRequestId,
    widthProcessors: request.width,
    walltimeMs: request.walltime,
    status: wireOfStatuses[request.status],
    seenUnixMs: request.seenAt,
    submittedUnixMs: request.submittedAt,
    startedUnixMs: request.startedAt,
    endedUnixMs: request.endedAt,
    reasons: encodeReasons(request.reasons),
    heuristic,
    candidates: (request.candidates ?? []).slice(0, limits.candidates.max).map(encodeCandidate),
    reservation: request.reservation && encodeReservation(request.reservation),
    endCode: request.endCode,
    slot: encodeSlot(request.slot),
  };
}

function encodeReservation({ overCode, movedTo, ...name }: RequestReservation): RequestReservationWire {
  return {
    name,
    overCode,
    startUnixMs: movedTo?.startsAt,
    endUnixMs: movedTo?.endsAt,
    reservedProcessors: movedTo?.amount,
  };
}

function decodeReservation(
  name: ReservationName,
  { overCode, startUnixMs, endUnixMs, reservedProcessors }: RequestReservationWire,
): RequestReservation {
  const movedTo = decodeWindow(startUnixMs, endUnixMs, reservedProcessors);
  boundCode(overCode, 'reservation.over_code');
  decodeReservationName(name);
  return { ...name, overCode, ...(movedTo === undefined ? {} : { movedTo }) };
}

/** Writes how a reservation stands for the wire. */
export function encodeStatus({ reservation, startsAt, endsAt, amount, ahead }: ReservedStatus): ReservedStatusWire {
  return {
    name: reservation,
    startUnixMs: startsAt,
    endUnixMs: endsAt,
    reservedProcessors: amount,
    provisioning: encodeProvisioning(ahead),
  };
}

/** Reads how a reservation stands. @throws {MutiraoError} MUT_BAD_REQUEST where it has no name, or no window. */
export function decodeStatus({
  name,
  startUnixMs,
  endUnixMs,
  reservedProcessors,
  provisioning,
}: ReservedStatusWire): ReservedStatus {
  const window = decodeWindow(startUnixMs, endUnixMs, reservedProcessors);
  if (name === undefined || window === undefined)
    throw badRequest('a standing of no reservation; expected its name and its window');
  decodeReservationName(name);
  return { reservation: name, ...window, amount: reservedProcessors, ahead: decodeProvisioning(provisioning) };
}

/** @throws {MutiraoError} MUT_BAD_REQUEST where a window ends before it begins, or is of nothing. */
function decodeWindow(
  startsAt: number | undefined,
  endsAt: number | undefined,
  amount: number | undefined,
): RequestReservation['movedTo'] {
  if (startsAt === undefined || endsAt === undefined) return undefined;
  boundNumber(endsAt, 'instant', 'the end of a reservation');
  if (amount !== undefined) boundNumber(amount, 'resourceProcessors', 'the processors of a reservation');
  if (endsAt <= startsAt)
    throw badRequest(`a reservation from ${startsAt} to ${endsAt}; expected it to end after its start`);
  if (amount === 0) throw badRequest('a reservation of 0 processors; expected 1 or more');
  return { startsAt, endsAt, ...(amount === undefined ? {} : { amount }) };
}

function decodeCandidate(wire: RequestCandidateWire): RequestCandidate {
  const { throughputTasksPerHour: throughput } = wire;
  if (!(throughput >= 0 && throughput < Infinity))
    throw badRequest(`candidate.throughput_tasks_per_hour is ${throughput}; expected 0 or more`);
  return {
    width: boundNumber(wire.widthProcessors, 'resourceProcessors', 'candidate.width_processors'),
    walltime: boundNumber(wire.walltimeMs, 'duration', 'candidate.walltime_ms'),
    startsAt: boundNumber(wire.startsUnixMs, 'instant', 'candidate.starts_unix_ms'),
    throughput,
    chosen: wire.chosen,
  };
}

/** Writes what a heuristic compared for the wire. */
export function encodeCandidate({
  width,
  walltime,
  startsAt,
  throughput,
  chosen,
}: RequestCandidate): RequestCandidateWire {
  return {
    widthProcessors: width,
    walltimeMs: walltime,
    startsUnixMs: startsAt,
    throughputTasksPerHour: throughput,
    chosen,
  };
}

/** Writes whether a provider is draining for the wire; undefined for one that takes work. */
export function encodeDraining(draining: DrainingStatus | undefined): DrainingStatusWire {
  if (draining === undefined) return { sinceUnixMs: undefined, reason: '', atOnce: false };
  return { sinceUnixMs: draining.since, reason: clip(draining.reason), atOnce: draining.isAtOnce === true };
}

/** Reads whether a provider is draining. */
export function decodeDraining({ sinceUnixMs, reason, atOnce }: DrainingStatusWire): DrainingStatus | undefined {
  return sinceUnixMs === undefined
    ? undefined
    : {
        since: boundNumber(sinceUnixMs, 'instant', 'draining.since_unix_ms'),
        reason: boundText(reason, 'text', 'draining.reason'),
        ...(atOnce ? { isAtOnce: true } : {}),
      };
}
