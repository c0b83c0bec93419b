import type { JobSpec, MachineFacts, Outcome, ReplicaEnd, TaskGroup } from '@mutirao/core/messages';

/** A task group of `count` tasks that run `true`, unless `changes` say otherwise. */
export function aGroup(count = 1, changes: Partial<TaskGroup> = {}): TaskGroup {
  return {
    values: { kind: 'range', first: 0, count, step: 1 },
    command: 'true',
    noOp: false,
    inputs: [],
    outputs: [],
    check: '',
    requirements: '',
    ...changes,
  };
}

/**
 * A job of `count` tasks that run `true`, at most two replicas and three failures each, unless `changes` say otherwise.
 */
export function aJob(count = 1, changes: Partial<JobSpec> = {}): JobSpec {
  return {
    label: 'a bag',
    groups: [aGroup(count)],
    environment: {},
    limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
    processors: 1,
    replicasMax: 2,
    failuresMax: 3,
    homeDirectory: '/home',
    deadline: undefined,
    ...changes,
  };
}

/** A machine of one processor that stays, unless `changes` say otherwise. */
export function aMachine(machineId: string, changes: Partial<MachineFacts> = {}): MachineFacts {
  return { machineId, incarnation: 'a', processors: 1, attributes: {}, until: undefined, requestId: '', ...changes };
}

/** The end of a replica that ran from `startedAt` to `endedAt` without outputs. */
export function anEnd(
  replicaId: number,
  outcome: Outcome,
  times: { readonly startedAt: number; readonly endedAt: number },
): ReplicaEnd {
  const reasons = {
    succeeded: '',
    failed: 'MUT_TASK_FAILED',
    cancelled: 'MUT_CANCELLED',
    limited: 'MUT_LIMIT',
    broken: 'MUT_LAUNCH_FAILED',
  };
  return {
    replicaId,
    outcome,
    exitStatus: outcome === 'succeeded' ? 0 : 1,
    ...times,
    reason: reasons[outcome],
    detail: '',
    standardOutput: new Uint8Array(0),
    standardError: new Uint8Array(0),
    outputTruncated: false,
    outputs: [],
  };
}
