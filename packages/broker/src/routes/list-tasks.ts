import type {
  ListTasksRequest,
  ListTasksResponse,
  ReplicaRecord as ReplicaRecordWire,
  TaskRecord,
} from '@mutirao/api/broker';
import {
  badRequest,
  decodeTaskStatus,
  encodeOutcome,
  encodeReplicaDisposition,
  encodeStagingTimes,
  encodeUsage,
  encodeTaskStatus,
} from '@mutirao/api/codecs';
import { encodeCause } from '@mutirao/api/reasons';
import {
  findTaskSummary,
  listTaskIndexes,
  type BrokerJob,
  type OpenReplica,
  type TaskSummary,
} from '@mutirao/core/machines/broker';
import type { JobSpec, TaskStatus } from '@mutirao/core/messages';
import { invariant, type MachineId, type RequestId, type TaskIndex, type UserId } from '@mutirao/core/shared';
import { unary, type UnaryHandler } from '@mutirao/runtime/rpc';

import type { ReplicaRecord } from '../journal/records.ts';
import { findTaken, valueOfTask } from '../staging/task-of-job.ts';
import { getJob, type BrokerParts } from './broker-parts.ts';
import { fillPage } from './task-page.ts';

const pageDefault = 1000;
const pageMax = 10_000;
/** Tasks farther apart than this are read from the journal apart. */
const gapMax = 64;

interface ListTasks {
  readonly jobId: number;
  readonly taskIndexes: readonly TaskIndex[];
  readonly status: TaskStatus | undefined;
  readonly sizeMax: number;
  readonly from: TaskIndex;
}

/** The tasks of a job with all their replicas, a page at a time. */
export function listTasksRoute(parts: BrokerParts): UnaryHandler<ListTasksRequest, ListTasksResponse> {
  return unary({
    decode: decodeListTasks,
    handle: (request, { userId }) => listTasks(parts, userId, request),
    encode: (response: ListTasksResponse) => response,
  });
}

function decodeListTasks({ jobId, taskIndexes, status, pageSize, fromTaskIndex }: ListTasksRequest): ListTasks {
  if (taskIndexes.length > 100_000)
    throw badRequest(`task_indexes has ${taskIndexes.length} entries; expected at most 100000`);
  const sizeMax = Math.min(pageSize === 0 ? pageDefault : pageSize, pageMax);
  return { jobId, taskIndexes, status: decodeTaskStatus(status), sizeMax, from: fromTaskIndex };
}

function listTasks(parts: BrokerParts, userId: UserId, request: ListTasks): ListTasksResponse {
  const job = getJob(parts, userId, request.jobId);
  // One more than the page holds says where the next one begins.
  const indexes =
    request.taskIndexes.length > 0
      ? chosenIndexes(job, request)
      : listTaskIndexes(job, { ...request, sizeMax: request.sizeMax + 1 });
  const page = indexes.slice(0, request.sizeMax);
  const spec = parts.specs.getSpec(job);
  const records = readRecords(parts, job, page);
  const tasks = fillPage(page, (index) => encodeTask(parts, job, { spec, index, records: records.get(index) ?? [] }));
  return { tasks, nextTaskIndex: indexes[tasks.length] };
}

function chosenIndexes(job: BrokerJob, { taskIndexes, from, status, sizeMax }: ListTasks): TaskIndex[] {
  const wanted = [...new Set(taskIndexes)]
    .filter((index) => index >= from && index < job.taskCount)
    .sort((a, b) => a - b);
  const matching =
    status === undefined ? wanted : wanted.filter((index) => findTaskSummary(job, index)?.status === status);
  return matching.slice(0, sizeMax + 1);
}

/** Reads the records of neighbouring tasks together. */
function readRecords(
  parts: BrokerParts,
  job: BrokerJob,
  indexes: readonly TaskIndex[],
): Map<TaskIndex, readonly ReplicaRecord[]> {
  const records = new Map<TaskIndex, readonly ReplicaRecord[]>();
  let start = 0;
  for (let at = 1; at <= indexes.length; at += 1) {
    const [first, last, next] = [indexes[start], indexes[at - 1], indexes[at]];
    if (first === undefined || last === undefined || (next !== undefined && next - last <= gapMax)) continue;
    for (const [index, list] of parts.records.endingsOf(job.jobId, first, last)) records.set(index, list);
    start = at;
  }
  return records;
}

interface TaskParts {
  readonly spec: JobSpec;
  readonly index: TaskIndex;
  readonly records: readonly ReplicaRecord[];
}

function encodeTask(parts: BrokerParts, job: BrokerJob, { spec, index, records }: TaskParts): TaskRecord {
  const summary = findTaskSummary(job, index);
  invariant(summary, `job ${job.jobId} has no task ${index}`);
  const taken = findTaken(spec.resumes?.tasks ?? [], index);
  const findRequest = (machineId: MachineId): RequestId => getRequestId(parts, machineId);
  return {
    jobId: job.jobId,
    taskIndex: index,
    value: valueOfTask(spec, index),
    status: encodeTaskStatus(summary.status),
    failureCount: getFailureCount(summary, records),
    waitsFor: [...summary.waitsFor],
    reusedFrom: taken === undefined ? undefined : { jobId: taken.jobId, taskIndex: taken.fromTaskIndex },
    replicas: [
      ...records.map((record) => encodeEnded(record, findRequest(record.machineId))),
      ...summary.replicas.map((replica) => encodeOpen(replica, findRequest(replica.machineId))),
    ],
  };
}

function getFailureCount(summary: TaskSummary, records: readonly ReplicaRecord[]): number {
  return Math.max(summary.failureCount, records.filter((record) => record.disposition === 'failed').length);
}

function encodeEnded(record: ReplicaRecord, requestId: RequestId): ReplicaRecordWire {
  const { replicaId, machineId, exitStatus, reason, detail } = record;
  return {
    replicaId,
    machineId,
    requestId,
    exitStatus,
    reason,
    detail: encodeCause(detail),
    dispatchedUnixMs: record.dispatchedAt,
    startedUnixMs: record.startedAt,
    endedUnixMs: record.endedAt,
    outcome: encodeOutcome(record.outcome),
    accepted: record.disposition === 'accepted',
    disposition: encodeReplicaDisposition(record.disposition),
    takenUnixMs: record.takenAt,
    staging: encodeStagingTimes(record.staging),
    usage: encodeUsage(record.usage),
  };
}

function encodeOpen(
  { replicaId, machineId, dispatchedAt, startedAt }: OpenReplica,
  requestId: RequestId,
): ReplicaRecordWire {
  return {
    replicaId,
    machineId,
    requestId,
    exitStatus: 0,
    reason: '',
    detail: undefined,
    dispatchedUnixMs: dispatchedAt,
    startedUnixMs: startedAt,
    endedUnixMs: 0,
    outcome: encodeOutcome(undefined),
    accepted: false,
    disposition: encodeReplicaDisposition(undefined),
    takenUnixMs: 0,
    staging: undefined,
    usage: undefined,
  };
}

/**
 * The request that a machine was allocated by; that of a lost machine follows from its name, if such a request is
 * known.
 */
function getRequestId(parts: BrokerParts, machineId: MachineId): RequestId {
  const { machines, requests } = parts.driver.state;
  const known = machines.get(machineId);
  if (known !== undefined) return known.facts.requestId;
  const named = /^([^/]+\/([^/]+))\.\d+$/.exec(machineId);
  return named?.[1] !== undefined && requests.has(named[1]) ? (named[2] ?? '') : '';
}
