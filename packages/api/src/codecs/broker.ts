import type {
  BrokerEvent,
  Explanation,
  JobSummary,
  LedgerRow,
  ListedTrust,
  MachineRecord,
  MachineStatus,
  ProviderRecord,
  ReplicaDisposition,
} from '@mutirao/core/machines/broker';
import type { AllocationRequest, JobStatus, TaskStatus } from '@mutirao/core/messages';
import type { Reason } from '@mutirao/core/reasons';
import type { Instant } from '@mutirao/core/shared';

import {
  JobStatus as JobStatusWire,
  MachineStatus as MachineStatusWire,
  ReplicaDisposition as ReplicaDispositionWire,
  TaskStatus as TaskStatusWire,
  type ExplainResponse,
  type JobEvent as JobEventWire,
  type JobSummary as JobSummaryWire,
  type LedgerRow as LedgerRowWire,
  type MachineRecord as MachineRecordWire,
  type ProviderRecord as ProviderRecordWire,
  type TrustRecord as TrustRecordWire,
} from '../generated/mutirao/broker/v1/broker.ts';
import { clip } from '../limits.ts';
import { encodeCause, encodeReason, sayCause } from '../reasons/index.ts';
import { encodeDependencies } from './dependencies.ts';
import { badRequest } from './common.ts';
import { encodeMachineFacts } from './machine.ts';
import { encodeAllocationRequest } from './provider.ts';

const wireOfJobStatuses: Readonly<Record<JobStatus, JobStatusWire>> = {
  running: JobStatusWire.RUNNING,
  finished: JobStatusWire.FINISHED,
  failed: JobStatusWire.FAILED,
  cancelled: JobStatusWire.CANCELLED,
};
const wireOfTaskStatuses: Readonly<Record<TaskStatus, TaskStatusWire>> = {
  waiting: TaskStatusWire.WAITING,
  ready: TaskStatusWire.READY,
  running: TaskStatusWire.RUNNING,
  verifying: TaskStatusWire.VERIFYING,
  finished: TaskStatusWire.FINISHED,
  failed: TaskStatusWire.FAILED,
  cancelled: TaskStatusWire.CANCELLED,
};
const taskStatusesOfWire = new Map(
  Object.entries(wireOfTaskStatuses).map(([status, wire]) => [wire, status as TaskStatus]),
);
const wireOfMachineStatuses: Readonly<Record<MachineStatus, MachineStatusWire>> = {
  idle: MachineStatusWire.IDLE,
  busy: MachineStatusWire.BUSY,
  draining: MachineStatusWire.DRAINING,
  quarantined: MachineStatusWire.QUARANTINED,
};
const wireOfDispositions: Readonly<Record<ReplicaDisposition, ReplicaDispositionWire>> = {
  accepted: ReplicaDispositionWire.ACCEPTED,
  surplus: ReplicaDispositionWire.SURPLUS,
  outvoted: ReplicaDispositionWire.OUTVOTED,
  failed: ReplicaDispositionWire.FAILED,
  lost: ReplicaDispositionWire.LOST,
  withdrawn: ReplicaDispositionWire.WITHDRAWN,
  cancelled: ReplicaDispositionWire.CANCELLED,
  served: ReplicaDispositionWire.SERVED,
};

/** Writes what became of a replica for the wire; undefined while it runs. */
export function encodeReplicaDisposition(disposition: ReplicaDisposition | undefined): ReplicaDispositionWire {
  return disposition === undefined ? ReplicaDispositionWire.UNSPECIFIED : wireOfDispositions[disposition];
}

/** Writes where a job stands for the wire. */
export function encodeJobSummary(summary: JobSummary): JobSummaryWire {
  const { status, submittedAt, endedAt, doubtfulTaskIndexes, reservationAwaited, cancelReason, ...others } = summary;
  const { isOpen, awaited, beginAt, expireAt, ...rest } = others;
  return {
    ...rest,
    awaited: encodeDependencies(awaited),
    beginUnixMs: beginAt,
    expireUnixMs: expireAt,
    open: isOpen,
    cancelReason: encodeCause(cancelReason),
    doubtfulTaskIndexes: [...doubtfulTaskIndexes],
    status: wireOfJobStatuses[status],
    submittedUnixMs: submittedAt,
    endedUnixMs: endedAt,
    reservationAwaited: reservationAwaited && {
      reservationId: reservationAwaited.reservationId,
      resourceId: reservationAwaited.resourceId,
      startsUnixMs: reservationAwaited.startsAt,
    },
  };
}

/** Writes what a task is for the wire. */
export function encodeTaskStatus(status: TaskStatus): TaskStatusWire {
  return wireOfTaskStatuses[status];
}

/** Reads the status that tasks are asked for by; undefined for any. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function decodeTaskStatus(wire: TaskStatusWire): TaskStatus | undefined {
  if (wire === TaskStatusWire.UNSPECIFIED) return undefined;
  const status = taskStatusesOfWire.get(wire);
  if (status === undefined) throw badRequest(`status is ${String(wire)}; expected a value of TaskStatus`);
  return status;
}

/** Writes an event for the wire. */
export function encodeJobEvent(
  sequence: number,
  at: Instant,
  event: BrokerEvent,
  taskIndexesMax = Infinity,
): JobEventWire {
  const { facts, request } = event;
  const cause = request === undefined ? event.reason : (findWhy(request) ?? '');
  const taskCount = event.taskIndexes.length;
  return {
    ...event,
    reason: clip(sayCause(cause)),
    cause: typeof cause === 'string' ? undefined : encodeReason(cause),
    sequence,
    atUnixMs: at,
    taskIndexes: event.taskIndexes.slice(0, taskIndexesMax),
    ...(taskCount > taskIndexesMax ? { taskCount } : {}),
    facts: facts && encodeMachineFacts(facts),
    request: request && encodeAllocationRequest(request),
  };
}

/** Why a request was made; once it is over, why it is. */
function findWhy({ reasons, endedAt }: AllocationRequest): Reason | undefined {
  return reasons.at(endedAt === 0 ? 0 : -1);
}

/** Writes a machine's record for the wire. */
export function encodeMachineRecord(record: MachineRecord): MachineRecordWire {
  const { facts, status, joinedAt, ...rest } = record;
  return { ...rest, facts: encodeMachineFacts(facts), status: wireOfMachineStatuses[status], joinedUnixMs: joinedAt };
}

/** Writes what a machine has done for its trust for the wire. */
export function encodeTrustRecord({
  identity,
  machineId,
  passes,
  credibility,
  quarantinedAt,
  evidence,
}: ListedTrust): TrustRecordWire {
  return {
    identity,
    machineId,
    passes,
    credibility,
    quarantinedUnixMs: quarantinedAt,
    evidence: evidence.map(({ at, against, detail, ...rest }) => ({
      ...rest,
      detail: encodeCause(detail),
      atUnixMs: at,
      against: [...against],
    })),
  };
}

/** Writes a row of the ledger for the wire. */
export function encodeLedgerRow(row: LedgerRow): LedgerRowWire {
  return {
    providerId: row.providerId,
    requestId: row.requestId,
    requestedProcessorMs: row.requested,
    heldProcessorMs: row.held,
    usedProcessorMs: row.used,
    losersProcessorMs: row.losers,
    killedProcessorMs: row.killed,
    idleProcessorMs: row.idle,
    ended: row.ended,
  };
}

/** Writes an explanation for the wire. */
export function encodeExplanation({ summary, waiting, details }: Explanation): ExplainResponse {
  return {
    summary: encodeReason(summary),
    waiting: waiting === undefined ? undefined : encodeReason(waiting),
    details: details.map(encodeReason),
  };
}

/** Writes what is known of a provider for the wire. */
export function encodeProviderRecord(record: ProviderRecord): ProviderRecordWire {
  const { providerId, address, isConnected, lastError, machineCount, resourceId, draining, runningCount } = record;
  return {
    providerId,
    address,
    connected: isConnected,
    lastError,
    machines: machineCount,
    ...(resourceId === '' ? {} : { resourceId }),
    drainingSinceUnixMs: draining?.since,
    drainingReason: draining?.reason ?? '',
    runningTasks: runningCount,
  };
}
