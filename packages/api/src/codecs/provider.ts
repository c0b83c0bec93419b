import type { AllocationRequest, Demand, DrainingStatus, RequestCandidate, RequestReservation, RequestStatus, ReservationName, ReservationStanding, ReservedDemand, TimeQuantiles } from '@mutirao/core/messages';

import {
  RequestStatus as RequestStatusWire, type AllocationRequest as AllocationRequestWire, type Demand as DemandWire, type DrainingStatus as DrainingStatusWire,
  type RequestCandidate as RequestCandidateWire, type RequestReservation as RequestReservationWire, type ReservationStanding as ReservationStandingWire, type ReservedDemand as ReservedDemandWire, type TaskTimes as TaskTimesWire,
} from '../generated/mutirao/provider/v1/provider.ts';
import { readClaim } from './claim.ts';
import { badRequest } from './common.ts';
import { decodeAhead, encodeAhead } from './reservation.ts';

const statusesOfWire: readonly (RequestStatus | undefined)[] = [
  undefined, 'drafted', 'submitting', 'queued', 'running', 'ended', 'rejected', 'vanished',
];
const wireOfStatuses: Readonly<Record<RequestStatus, RequestStatusWire>> = {
  drafted: RequestStatusWire.DRAFTED, submitting: RequestStatusWire.SUBMITTING, queued: RequestStatusWire.QUEUED,
  running: RequestStatusWire.RUNNING, ended: RequestStatusWire.ENDED, rejected: RequestStatusWire.REJECTED, vanished: RequestStatusWire.VANISHED,
};

/** Reads what a broker still wants. @throws {MutiraoError} MUT_BAD_REQUEST when a task would need no processor. */
export function decodeDemand(wire: DemandWire): Demand {
  if (wire.processors < 1) throw badRequest(`demand.processors is ${wire.processors}; want 1 or more`);
  return {
    pendingTasks: wire.pendingTasks, processors: wire.processors, taskTimeMax: wire.taskTimeMsMax, taskTimeMean: wire.taskTimeMsMean,
    deadline: wire.deadlineUnixMs, userId: wire.userId,
    ...(wire.unplacedTasks === undefined ? {} : { unplacedTasks: wire.unplacedTasks }),
    ...(wire.gangProcessors === undefined ? {} : { gangProcessors: wire.gangProcessors }),
    ...(wire.statedTimeMs === undefined ? {} : { statedTime: wire.statedTimeMs }),
    ...(wire.taskTimes === undefined ? {} : { taskTimes: decodeTaskTimes(wire.taskTimes) }),
    ...(wire.reserved.length === 0 ? {} : { reserved: wire.reserved.map(decodeReserved) }),
  };
}

/** Writes what a broker still wants for the wire. */
export function encodeDemand(demand: Demand): DemandWire {
  return {
    pendingTasks: demand.pendingTasks, processors: demand.processors, taskTimeMsMax: demand.taskTimeMax, taskTimeMsMean: demand.taskTimeMean,
    deadlineUnixMs: demand.deadline, userId: demand.userId, unplacedTasks: demand.unplacedTasks, gangProcessors: demand.gangProcessors, taskTimes: demand.taskTimes && encodeTaskTimes(demand.taskTimes),
    statedTimeMs: demand.statedTime, reserved: (demand.reserved ?? []).map(encodeReserved),
  };
}

function encodeReserved({ claim, processors, startsAt, endsAt, amount, hasMoved }: ReservedDemand): ReservedDemandWire {
  const moved = hasMoved === true ? { startUnixMs: startsAt, endUnixMs: endsAt, reservedProcessors: amount } : { startUnixMs: undefined, endUnixMs: undefined, reservedProcessors: undefined };
  return { claim, processors, ...moved };
}

function decodeReserved({ claim, processors, startUnixMs, endUnixMs, reservedProcessors }: ReservedDemandWire, index: number): ReservedDemand {
  if (processors < 1) throw badRequest(`demand.reserved[${index}].processors is ${processors}; want 1 or more`);
  const movedTo = decodeWindow(startUnixMs, endUnixMs, reservedProcessors);
  return { ...readClaim(claim), ...(movedTo === undefined ? {} : { ...movedTo, hasMoved: true }), processors };
}

function decodeTaskTimes({ endedCount, cutOffCount, halfMsMax, ninetiethMsMax, ninetyNinthMsMax }: TaskTimesWire): TimeQuantiles {
  return { count: endedCount, censoredCount: cutOffCount, median: halfMsMax, ninetieth: ninetiethMsMax, ninetyNinth: ninetyNinthMsMax };
}

/** Writes how long tasks take for the wire. */
export function encodeTaskTimes({ count, censoredCount, median, ninetieth, ninetyNinth }: TimeQuantiles): TaskTimesWire {
  return { endedCount: count, cutOffCount: censoredCount, halfMsMax: median, ninetiethMsMax: ninetieth, ninetyNinthMsMax: ninetyNinth };
}

/** Reads an allocation request. @throws {MutiraoError} MUT_BAD_REQUEST for a status that this release does not know. */
export function decodeAllocationRequest(wire: AllocationRequestWire): AllocationRequest {
  const status = statusesOfWire[wire.status];
  if (status === undefined) throw badRequest(`request.status is ${String(wire.status)}; want 1 to ${statusesOfWire.length - 1}`);
  const { providerId, requestId, managerRequestId, reasons, heuristic } = wire;
  return {
    providerId, requestId, managerRequestId, width: wire.widthProcessors, walltime: wire.walltimeMs, status, seenAt: wire.seenUnixMs,
    submittedAt: wire.submittedUnixMs, startedAt: wire.startedUnixMs, endedAt: wire.endedUnixMs, reasons, heuristic,
    ...(wire.candidates.length === 0 ? {} : { candidates: wire.candidates.map(decodeCandidate) }),
    ...(wire.reservation?.name === undefined ? {} : { reservation: decodeReservation(wire.reservation.name, wire.reservation) }),
  };
}

/** Writes an allocation request for the wire. */
export function encodeAllocationRequest(request: AllocationRequest): AllocationRequestWire {
  const { providerId, requestId, managerRequestId, heuristic } = request;
  return {
    providerId, requestId, managerRequestId, widthProcessors: request.width, walltimeMs: request.walltime,
    status: wireOfStatuses[request.status], seenUnixMs: request.seenAt, submittedUnixMs: request.submittedAt,
    startedUnixMs: request.startedAt, endedUnixMs: request.endedAt, reasons: [...request.reasons], heuristic,
    candidates: (request.candidates ?? []).map(encodeCandidate), reservation: request.reservation && encodeReservation(request.reservation),
  };
}

function encodeReservation({ overCode, movedTo, ...name }: RequestReservation): RequestReservationWire {
  return { name, overCode, startUnixMs: movedTo?.startsAt, endUnixMs: movedTo?.endsAt, reservedProcessors: movedTo?.amount };
}

function decodeReservation(name: ReservationName, { overCode, startUnixMs, endUnixMs, reservedProcessors }: RequestReservationWire): RequestReservation {
  const movedTo = decodeWindow(startUnixMs, endUnixMs, reservedProcessors);
  return { ...name, overCode, ...(movedTo === undefined ? {} : { movedTo }) };
}

/** Writes how a reservation stands for the wire. */
export function encodeStanding({ reservation, startsAt, endsAt, amount, ahead }: ReservationStanding): ReservationStandingWire {
  return { name: reservation, startUnixMs: startsAt, endUnixMs: endsAt, reservedProcessors: amount, heldAhead: encodeAhead(ahead) };
}

/** Reads how a reservation stands. @throws {MutiraoError} MUT_BAD_REQUEST where it has no name, or no window. */
export function decodeStanding({ name, startUnixMs, endUnixMs, reservedProcessors, heldAhead }: ReservationStandingWire): ReservationStanding {
  const window = decodeWindow(startUnixMs, endUnixMs, reservedProcessors);
  if (name === undefined || window === undefined) throw badRequest('a standing of no reservation; want its name and its window');
  return { reservation: name, ...window, amount: reservedProcessors, ahead: decodeAhead(heldAhead) };
}

/** @throws {MutiraoError} MUT_BAD_REQUEST where a window ends before it begins, or is of nothing. */
function decodeWindow(startsAt: number | undefined, endsAt: number | undefined, amount: number | undefined): RequestReservation['movedTo'] {
  if (startsAt === undefined || endsAt === undefined) return undefined;
  if (endsAt <= startsAt) throw badRequest(`a reservation from ${startsAt} to ${endsAt}; want it to end after its start`);
  if (amount === 0) throw badRequest('a reservation of 0 processors; want 1 or more');
  return { startsAt, endsAt, ...(amount === undefined ? {} : { amount }) };
}

function decodeCandidate(wire: RequestCandidateWire): RequestCandidate {
  return {
    width: wire.widthProcessors, walltime: wire.walltimeMs, startsAt: wire.startsUnixMs, throughput: wire.throughputTasksPerHour, chosen: wire.chosen,
  };
}

/** Writes what a heuristic compared for the wire. */
export function encodeCandidate({ width, walltime, startsAt, throughput, chosen }: RequestCandidate): RequestCandidateWire {
  return { widthProcessors: width, walltimeMs: walltime, startsUnixMs: startsAt, throughputTasksPerHour: throughput, chosen };
}

/** Writes whether a provider is draining for the wire; undefined for one that takes work. */
export function encodeDraining(draining: DrainingStatus | undefined): DrainingStatusWire {
  if (draining === undefined) return { sinceUnixMs: undefined, reason: '', atOnce: false };
  return { sinceUnixMs: draining.since, reason: draining.reason, atOnce: draining.isAtOnce === true };
}

/** Reads whether a provider is draining. */
export function decodeDraining({ sinceUnixMs, reason, atOnce }: DrainingStatusWire): DrainingStatus | undefined {
  return sinceUnixMs === undefined ? undefined : { since: sinceUnixMs, reason, ...(atOnce ? { isAtOnce: true } : {}) };
}
