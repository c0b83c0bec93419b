import {
  JobStatus,
  Scheduler,
  type GetJobResponse,
  type JobSpec,
  type JobSummary,
  type ReplicationCap,
  type TaskGroup,
  type Verification,
} from '@mutirao/api/broker';
import type { Reason } from '@mutirao/api/common';
import { findReasonDocument } from '@mutirao/api/reasons';

import type { JobDetail, JobRow, TaskCounts } from '../../schema/index.ts';
import { instantOrNull, getEnumName } from './names.ts';

/** How long a job still takes, where that was asked. */
export type Estimate = Pick<GetJobResponse, 'remainingMsMin' | 'remainingMsMax' | 'plannedEndUnixMs'>;

const groupsShown = 100;

/** A job in a list. */
export function jobRow(job: JobSummary, estimate?: Estimate, waiting?: Reason): JobRow {
  return {
    job_id: job.jobId,
    label: job.label,
    user_id: job.userId,
    status: statusOf(job),
    submitted_unix_ms: job.submittedUnixMs,
    ended_unix_ms: instantOrNull(job.endedUnixMs),
    task_count: job.taskCount,
    tasks: taskCounts(job),
    replica_count: job.replicaCount,
    ...waitingPart(waiting),
    held_count: job.heldCount,
    priority: job.priority,
    running_max: job.runningMax ?? null,
    is_open: job.open ?? false,
    cancel_reason: findReasonDocument(job.cancelReason),
    doubtful_count: job.doubtfulCount,
    remaining_ms_min: estimate?.remainingMsMin ?? null,
    remaining_ms_max: estimate?.remainingMsMax ?? null,
    planned_end_unix_ms: estimate?.plannedEndUnixMs ?? null,
  };
}

/** What a job waits for, and whether it waits in vain. */
function waitingPart(waiting: Reason | undefined): Pick<JobRow, 'waiting' | 'is_blocked'> {
  return { waiting: findReasonDocument(waiting), is_blocked: waiting !== undefined && blocking.has(waiting.code) };
}

/** Reasons for waiting that do not pass by themselves: somebody has to add a machine or ask for less. */
const blocking: ReadonlySet<string> = new Set([
  'no-provider',
  'no-machine-matches',
  'no-machine-accepts',
  'no-machine-draining',
  'no-machine-long-enough',
  'all-machines-draining',
  'resource-lacking',
  'gang-too-wide',
  'provider-away',
  'reservation-over-waits',
  'site-selection-too-wide',
  'site-selection-unsuitable',
]);

/** A status that a later broker may have is taken as running: it is the one that promises nothing. */
function statusOf({ status }: JobSummary): JobRow['status'] {
  const names: Readonly<Partial<Record<JobStatus, JobRow['status']>>> = {
    [JobStatus.FINISHED]: 'finished',
    [JobStatus.FAILED]: 'failed',
    [JobStatus.CANCELLED]: 'cancelled',
  };
  return names[status] ?? 'running';
}

/**
 * Tasks by status; what the broker counts nowhere is being verified. One that is at a machine and has not begun there
 * is still to start.
 */
export function taskCounts(job: JobSummary): TaskCounts {
  const counted = {
    waiting: job.waitingCount,
    ready: job.readyCount + job.dispatchedCount,
    running: job.runningCount,
    finished: job.finishedCount,
    failed: job.failedCount,
    cancelled: job.cancelledCount,
  };
  const sum = Object.values(counted).reduce((total, count) => total + count, 0);
  return { ...counted, verifying: Math.max(0, job.taskCount - sum) };
}

/** What of a job never changes once it is accepted: its spec, as the page shows it. */
export type JobSpecPart = Omit<
  JobDetail,
  | 'job'
  | 'slot_count'
  | 'task_time_ms_half'
  | 'task_time_ms_ninetieth'
  | 'timed_count'
  | 'cut_off_count'
  | 'doubtful_task_indexes'
>;

/** What a user stated of a job. */
export function jobSpecPart(spec: JobSpec): JobSpecPart {
  const limits = spec.limits ?? { runTimeMsMax: 0, memoryBytesMax: 0, outputBytesMax: 0 };
  return {
    is_workflow: spec.edges.length > 0,
    edge_count: spec.edges.length,
    ...getCounts(spec),
    scheduler: getEnumName(Scheduler, spec.scheduler ?? Scheduler.WQR).replace('_', '-') || 'wqr',
    replication_budget: capText(spec.replicationCap?.cap),
    verification: verificationText(spec.verification),
    home_directory: spec.homeDirectory,
    deadline_unix_ms: spec.deadlineUnixMs ?? null,
    environment: spec.environment,
    run_time_ms_max: limits.runTimeMsMax,
    memory_bytes_max: limits.memoryBytesMax,
    output_bytes_max: limits.outputBytesMax,
    groups: spec.groups.slice(0, groupsShown).map((group) => ({
      task_count: findTaskCount(group),
      command: group.command,
      check: group.check,
      requirements: group.requirements,
      input_count: group.inputs.length,
      output_count: group.outputs.length,
      no_op: group.noOp,
    })),
    group_count: spec.groups.length,
  };
}

function getCounts({
  processors = 1,
  gang = false,
  replicasMax = gang ? 1 : 2,
  failuresMax = 3,
}: JobSpec): Pick<JobSpecPart, 'processors' | 'is_gang' | 'replicas_max' | 'failures_max'> {
  return { processors, is_gang: gang, replicas_max: replicasMax, failures_max: failuresMax };
}

function capText(cap: ReplicationCap['cap']): string {
  if (cap === undefined) return 'none';
  return cap.$case === 'idle' ? 'idle' : `${cap.value}%`;
}

function verificationText(verification: Verification | undefined): string {
  const by = verification?.by;
  if (by === undefined) return '';
  return by.$case === 'vote' || by.$case === 'credibility' ? `${by.$case}:${by.value}` : by.$case;
}

function findTaskCount({ values }: TaskGroup): number {
  if (values === undefined) return 0;
  return values.$case === 'range' ? values.value.count : values.value.values.length;
}

/** A job with what its user stated. */
export function jobDetail(
  job: JobSummary,
  spec: JobSpecPart,
  { answer, waiting }: { readonly answer: GetJobResponse; readonly waiting?: Reason | undefined },
): JobDetail {
  const { taskTimes } = answer;
  return {
    job: jobRow(job, answer, waiting),
    ...spec,
    slot_count: answer.slotCount ?? 0,
    task_time_ms_half: taskTimes?.p50Ms ?? null,
    task_time_ms_ninetieth: taskTimes?.p90Ms ?? null,
    timed_count: taskTimes?.endedCount ?? 0,
    cut_off_count: taskTimes?.cutOffCount ?? 0,
    doubtful_task_indexes: job.doubtfulTaskIndexes,
  };
}
