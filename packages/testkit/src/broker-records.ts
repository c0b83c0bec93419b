import {
  JobStatus,
  MachineStatus,
  ReplicaDisposition,
  TaskStatus,
  type JobSpec,
  type JobSummary,
  type LedgerRow,
  type MachineRecord,
  type ReplicaRecord,
  type TaskRecord,
} from '@mutirao/api/broker';
import { Outcome } from '@mutirao/api/machine';

/** A job as its broker reports it: 10 finished tasks, submitted at 1,000,000, ended 12.5 s later; `fields` override. */
export function aJobSummary(fields: Partial<JobSummary> = {}): JobSummary {
  return {
    jobId: 1,
    label: 'poster',
    userId: 'ana',
    status: JobStatus.FINISHED,
    submittedUnixMs: 1_000_000,
    endedUnixMs: 1_012_500,
    taskCount: 10,
    waitingCount: 0,
    heldCount: 0,
    priority: 0,
    readyCount: 0,
    dispatchedCount: 0,
    runningCount: 0,
    finishedCount: 10,
    failedCount: 0,
    cancelledCount: 0,
    replicaCount: 11,
    cancelReason: undefined,
    extraVoteCount: 0,
    doubtfulCount: 0,
    doubtfulTaskIndexes: [],
    ...fields,
  };
}

/** What the user stated of `aJobSummary`. */
export function aJobSpec(fields: Partial<JobSpec> = {}): JobSpec {
  return {
    label: 'poster',
    environment: {},
    limits: undefined,
    homeDirectory: '/home/ana',
    edges: [],
    groups: [
      {
        values: { $case: 'range', value: { first: 1, count: 10 } },
        command: 'tile {}',
        noOp: false,
        inputs: [],
        outputs: [],
        check: '',
        requirements: '',
        alternatives: [],
      },
    ],
    ...fields,
  };
}

/**
 * A replica that succeeded: dispatched at 1,000,000, started 100 ms later, and ran for 2 s. If it is not accepted, it has
 * no disposition, as from an older broker.
 */
export function aReplica(fields: Partial<ReplicaRecord> = {}): ReplicaRecord {
  const { endedUnixMs = 1_002_100 } = fields;
  return {
    replicaId: 7,
    machineId: 'alpha/1.0',
    requestId: '1',
    dispatchedUnixMs: 1_000_000,
    startedUnixMs: 1_000_100,
    endedUnixMs: 1_002_100,
    outcome: Outcome.SUCCEEDED,
    exitStatus: 0,
    reason: '',
    detail: undefined,
    accepted: true,
    disposition: fields.accepted === false ? ReplicaDisposition.UNSPECIFIED : ReplicaDisposition.ACCEPTED,
    takenUnixMs: endedUnixMs === 0 ? 0 : endedUnixMs + 10,
    ...fields,
  };
}

/** A finished task with one replica. */
export function aTask(fields: Partial<TaskRecord> = {}): TaskRecord {
  return {
    jobId: 1,
    taskIndex: 0,
    value: '1',
    status: TaskStatus.FINISHED,
    failureCount: 0,
    waitsFor: [],
    replicas: [aReplica()],
    ...fields,
  };
}

/** An idle machine of an allocation. */
export function aMachineRecord(fields: Partial<MachineRecord> = {}): MachineRecord {
  return {
    facts: {
      machineId: 'alpha/1.0',
      incarnation: 'x',
      processors: 2,
      attributes: { os: 'linux' },
      untilUnixMs: 1_060_000,
      requestId: '1',
      sharedTokens: [],
      homeMarks: [],
    },
    providerId: 'alpha',
    status: MachineStatus.IDLE,
    joinedUnixMs: 1_000_000,
    runningCount: 0,
    waitingCount: 0,
    finishedCount: 5,
    failedCount: 1,
    credibility: 0.908,
    ...fields,
  };
}

/** A row of the ledger that adds up. */
export function aLedgerRow(fields: Partial<LedgerRow> = {}): LedgerRow {
  return {
    providerId: 'alpha',
    requestId: '1',
    requestedProcessorMs: 480_000,
    heldProcessorMs: 100_000,
    usedProcessorMs: 70_000,
    losersProcessorMs: 10_000,
    killedProcessorMs: 5_000,
    idleProcessorMs: 15_000,
    ended: true,
    ...fields,
  };
}
