import {
  JobStatus,
  MachineStatus,
  Scheduler,
  type GetJobResponse,
  type GetTaskOutputResponse,
  type JobEvent,
  type JobSpec,
  type JobSummary,
  type LedgerRow,
  type MachineRecord,
  type ProviderRecord,
  type ReplicaRecord,
  type ReplicationCap,
  type Resumed,
  TaskStatus,
  type TailTaskOutputResponse,
  type TaskGroup,
  type TaskRecord,
  type TrustRecord,
  type Verification,
} from '@mutirao/api/broker';
import {
  RequestStatus as ClusterRequestStatus,
  type ClusterNode,
  type GetScoresResponse,
  type HonouredReservation,
  type QueuedRequest,
  type WalltimeGain,
} from '@mutirao/api/cluster';
import { Outcome } from '@mutirao/api/machine';
import {
  RequestStatus,
  type AllocationRequest,
  type GetResourceResponse,
  type LeaseState,
} from '@mutirao/api/provider';
import type { Slot } from '@mutirao/api/common';
import { readCondition } from '@mutirao/api/codecs';
import { findReasonDocument, reasonDocument } from '@mutirao/api/reasons';

import type { Manifest } from '../backup/manifest.ts';
import type { JsonOf, shapes } from './shapes.ts';
import { taskStatusText } from '../output/status-words.ts';
import { getEnumName } from '../wire/names.ts';

type Shapes = typeof shapes;

/** A job as JSON. */
export function jobJson(job: JobSummary): JsonOf<Shapes['job']> {
  return {
    job_id: job.jobId,
    label: job.label,
    user_id: job.userId,
    status: getEnumName(JobStatus, job.status),
    submitted_unix_ms: job.submittedUnixMs,
    ended_unix_ms: orNull(job.endedUnixMs),
    open: job.open === true,
    task_count: job.taskCount,
    waiting_count: job.waitingCount,
    held_count: job.heldCount,
    ready_count: job.readyCount,
    dispatched_count: job.dispatchedCount,
    running_count: job.runningCount,
    finished_count: job.finishedCount,
    failed_count: job.failedCount,
    cancelled_count: job.cancelledCount,
    replica_count: job.replicaCount,
    cancel_reason: findReasonDocument(job.cancelReason),
    extra_vote_count: job.extraVoteCount,
    doubtful_count: job.doubtfulCount,
    doubtful_task_indexes: job.doubtfulTaskIndexes,
    priority: job.priority,
    running_max: job.runningMax ?? null,
    awaited: (job.awaited?.jobs ?? []).map(({ jobId, condition }) => ({
      job_id: jobId,
      condition: readCondition(condition) ?? 'unknown',
    })),
    begin_unix_ms: job.beginUnixMs ?? null,
    expire_unix_ms: job.expireUnixMs ?? null,
    awaited_reservation_id: job.reservationAwaited?.reservationId ?? null,
    awaited_from_unix_ms: job.reservationAwaited?.startsUnixMs ?? null,
  };
}

/** How long it still takes. */
function estimateJson({
  slotCount = 0,
  remainingMsMin,
  remainingMsMax,
  plannedEndUnixMs,
}: GetJobResponse): Pick<
  JsonOf<Shapes['job_details']>,
  'slot_count' | 'remaining_ms_min' | 'remaining_ms_max' | 'planned_end_unix_ms'
> {
  return {
    slot_count: slotCount,
    remaining_ms_min: remainingMsMin ?? null,
    remaining_ms_max: remainingMsMax ?? null,
    planned_end_unix_ms: plannedEndUnixMs ?? null,
  };
}

/** A job and what its user stated, as JSON. */
export function jobDetailsJson(job: JobSummary, spec: JobSpec, answer: GetJobResponse): JsonOf<Shapes['job_details']> {
  const limits = spec.limits ?? { runTimeMsMax: 0, memoryBytesMax: 0, outputBytesMax: 0 };
  return {
    ...jobJson(job),
    trouble: answer.trouble ?? '',
    ...timesJson(answer),
    ...estimateJson(answer),
    processors: spec.processors ?? 1,
    ...retriesJson(spec),
    ...schedulingJson(spec),
    site_selection: spec.siteSelection ?? null,
    verification: verificationText(spec.verification),
    home_directory: spec.homeDirectory,
    work_folder: spec.workFolder ?? null,
    deadline_unix_ms: spec.deadlineUnixMs ?? null,
    environment: spec.environment,
    run_time_ms_max: limits.runTimeMsMax,
    memory_bytes_max: limits.memoryBytesMax,
    output_bytes_max: limits.outputBytesMax,
    groups: spec.groups.map((group) => ({
      task_count: findTaskCount(group),
      command: group.command,
      check: group.check,
      requirements: group.requirements,
      input_count: group.inputs.length,
      output_count: group.outputs.length,
      no_op: group.noOp,
    })),
  };
}

function retriesJson({ replicasMax = 2, failuresMax = 3, memoryGrowth, memoryAuto, failedTasksMax }: JobSpec) {
  return {
    replicas_max: replicasMax,
    failures_max: failuresMax,
    memory_growth: memoryGrowth ?? null,
    memory_auto: memoryAuto === true,
    failed_tasks_max: failedTasksMax ?? null,
  };
}

function timesJson({ taskTimes }: GetJobResponse) {
  return {
    task_time_ms_half: taskTimes?.p50Ms ?? null,
    task_time_ms_ninetieth: taskTimes?.p90Ms ?? null,
    timed_count: taskTimes?.endedCount ?? 0,
    cut_off_count: taskTimes?.cutOffCount ?? 0,
  };
}

/** How results are verified, as `--verify` takes it; empty where nothing was said. */
export function verificationText(verification: Verification | undefined): string {
  const by = verification?.by;
  if (by === undefined) return '';
  return by.$case === 'vote' || by.$case === 'credibility' ? `${by.$case}:${by.value}` : by.$case;
}

/** What a machine has done for its trust, as JSON. */
export function trustJson(record: TrustRecord): JsonOf<Shapes['trust']> {
  return {
    identity: record.identity,
    machine_id: record.machineId,
    passes: record.passes,
    credibility: record.credibility,
    quarantined_unix_ms: orNull(record.quarantinedUnixMs),
    evidence: record.evidence.map((one) => ({
      kind: one.kind,
      at_unix_ms: one.atUnixMs,
      job_id: one.jobId === 0 ? null : one.jobId,
      task_index: one.jobId === 0 ? null : one.taskIndex,
      digest: one.digest,
      accepted_digest: one.acceptedDigest,
      against: one.against,
      detail: findReasonDocument(one.detail),
    })),
  };
}

/** How a job is scheduled, in words. */
export function schedulingJson({ scheduler, replicationCap }: JobSpec): {
  readonly scheduler: string;
  readonly replication_budget: string;
} {
  const name = getEnumName(Scheduler, scheduler ?? Scheduler.WQR).replace('_', '-');
  return { scheduler: name === '' ? 'wqr' : name, replication_budget: nameOfCap(replicationCap?.cap) };
}

function nameOfCap(cap: ReplicationCap['cap']): string {
  if (cap === undefined) return 'none';
  return cap.$case === 'idle' ? 'idle' : `${cap.value}%`;
}

/** Tasks of a group. */
export function findTaskCount({ values }: TaskGroup): number {
  if (values === undefined) return 0;
  return values.$case === 'range' ? values.value.count : values.value.values.length;
}

/** A task and its replicas as JSON. */
export function taskJson(task: TaskRecord): JsonOf<Shapes['task']> {
  return {
    job_id: task.jobId,
    task_index: task.taskIndex,
    value: task.value,
    status: taskStatusText(task),
    failure_count: task.failureCount,
    waits_for: task.waitsFor,
    replicas: task.replicas.map(replicaJson),
    reused_from:
      task.reusedFrom === undefined ? null : { job_id: task.reusedFrom.jobId, task_index: task.reusedFrom.taskIndex },
  };
}

/** What was taken over from an earlier job as JSON. */
export function resumedJson({ jobId, takenCount, runs }: Resumed): JsonOf<Shapes['resumed']> {
  return {
    job_id: jobId,
    taken_count: takenCount,
    runs: runs.map(({ taskIndex, reason }) => ({ task_index: taskIndex, reason: findReasonDocument(reason) })),
  };
}

function replicaJson(replica: ReplicaRecord): JsonOf<Shapes['replica']> {
  return {
    replica_id: replica.replicaId,
    machine_id: replica.machineId,
    request_id: replica.requestId,
    dispatched_unix_ms: replica.dispatchedUnixMs,
    started_unix_ms: orNull(replica.startedUnixMs),
    ended_unix_ms: orNull(replica.endedUnixMs),
    outcome: getEnumName(Outcome, replica.outcome),
    exit_status: replica.exitStatus,
    accepted: replica.accepted,
    reason: replica.reason,
    detail: findReasonDocument(replica.detail),
  };
}

/** A task's output as JSON. */
export function outputJson(jobId: number, taskIndex: number, output: GetTaskOutputResponse): JsonOf<Shapes['output']> {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
  return {
    job_id: jobId,
    task_index: taskIndex,
    replica_id: output.replicaId,
    standard_output: text(output.standardOutput),
    standard_error: text(output.standardError),
    truncated: output.truncated,
    files: output.files.map((file) => ({
      path: file.path,
      local_path: file.localPath,
      sha256: Buffer.from(file.content?.sha256 ?? []).toString('hex'),
      size_bytes: file.content?.sizeBytes ?? 0,
      gathered_in: file.gatheredIn === '' ? null : file.gatheredIn,
    })),
  };
}

/** A piece of the output of a task that is followed, as JSON. */
export function outputPartJson(
  { jobId, taskIndex }: { readonly jobId: number; readonly taskIndex: number },
  part: TailTaskOutputResponse,
): JsonOf<Shapes['output_part']> {
  return {
    job_id: jobId,
    task_index: taskIndex,
    status: getEnumName(TaskStatus, part.status),
    replica_id: part.replicaId === 0 ? null : part.replicaId,
    machine_id: part.machineId,
    standard_output_offset: part.standardOutputOffset,
    standard_output_base64: Buffer.from(part.standardOutput).toString('base64'),
    standard_error_offset: part.standardErrorOffset,
    standard_error_base64: Buffer.from(part.standardError).toString('base64'),
  };
}

/** A GridMachine as JSON. */
export function machineJson(machine: MachineRecord): JsonOf<Shapes['machine']> {
  const facts = machine.facts ?? {
    machineId: '',
    processors: 0,
    attributes: {},
    untilUnixMs: undefined,
    requestId: '',
  };
  return {
    machine_id: facts.machineId,
    provider_id: machine.providerId,
    status: getEnumName(MachineStatus, machine.status),
    processors: facts.processors,
    running_count: machine.runningCount,
    waiting_count: machine.waitingCount,
    finished_count: machine.finishedCount,
    failed_count: machine.failedCount,
    joined_unix_ms: machine.joinedUnixMs,
    until_unix_ms: facts.untilUnixMs ?? null,
    request_id: facts.requestId,
    attributes: facts.attributes,
    credibility: machine.credibility ?? null,
  };
}

/** All that is known of a machine, as JSON. */
export function shownMachineJson({
  name,
  machine,
  trust,
}: {
  readonly name: string;
  readonly machine: MachineRecord | undefined;
  readonly trust: TrustRecord | undefined;
}): JsonOf<Shapes['shown_machine']> {
  return {
    machine_id: name,
    machine: machine === undefined ? null : machineJson(machine),
    trust: trust === undefined ? null : trustJson(trust),
  };
}

/** A provider as its broker knows it, as JSON. */
export function providerJson(provider: ProviderRecord): JsonOf<Shapes['provider']> {
  return {
    provider_id: provider.providerId,
    address: provider.address,
    connected: provider.connected,
    machines: provider.machines,
    last_error: provider.lastError,
    draining_since_unix_ms: provider.drainingSinceUnixMs ?? null,
    draining_reason: provider.drainingReason,
    running_tasks: provider.runningTasks,
  };
}

/** The same with its heuristic; null if it did not answer or makes no requests. */
export function listedProviderJson(
  provider: ProviderRecord,
  heuristic: string | undefined,
): JsonOf<Shapes['listed_provider']> {
  return { ...providerJson(provider), heuristic: heuristic ?? null };
}

/** What decides a provider's requests, as JSON. */
export function heuristicJson({
  providerId,
  address,
  heuristic,
  defaultTaskTimeMs,
}: {
  readonly providerId: string;
  readonly address: string;
  readonly heuristic: string;
  readonly defaultTaskTimeMs: number;
}): JsonOf<Shapes['heuristic']> {
  return { provider_id: providerId, address, heuristic, default_task_time_ms: defaultTaskTimeMs };
}

function leaseJson(lease: LeaseState): JsonOf<Shapes['lease']> {
  return {
    broker_id: lease.brokerId,
    connected: lease.connected,
    leased_tasks: lease.leasedTasks,
    unstocked_tasks: lease.unstockedTasks,
    horizon_ms: lease.horizonMs,
    standby_since_unix_ms: orNull(lease.standbySinceUnixMs),
    standby_until_unix_ms: orNull(lease.standbyUntilUnixMs),
    spooled_reports: lease.spooledReports,
    spooled_ends: lease.spooledEnds,
    spooled_bytes: lease.spooledBytes,
  };
}

/** A provider's resource as JSON. */
export function resourceJson(resource: GetResourceResponse): JsonOf<Shapes['resource']> {
  return {
    provider_id: resource.providerId,
    resource_kind: resource.resourceKind,
    processors: resource.processors,
    requests_max: resource.requestsMax,
    walltime_ms_max: resource.walltimeMsMax,
    width_processors_max: resource.widthProcessorsMax,
    walltime_granularity_ms: resource.walltimeGranularityMs,
    heuristic: resource.heuristic,
    default_task_time_ms: resource.defaultTaskTimeMs,
    heuristic_switched: resource.heuristicSwitched,
    queued_requests: resource.queuedRequests,
    machines: resource.machines,
    draining: resource.draining,
    draining_since_unix_ms: resource.drainingSinceUnixMs ?? null,
    draining_reason: resource.drainingReason,
    reasons: resource.reasons.map(reasonDocument),
    leases: resource.leases.map(leaseJson),
    spool_trouble: resource.spoolTrouble,
    queue_trouble: resource.queueTrouble === undefined ? null : reasonDocument(resource.queueTrouble),
  };
}

/** An allocation request as JSON. */
export function requestJson(request: AllocationRequest): JsonOf<Shapes['request']> {
  return {
    provider_id: request.providerId,
    request_id: request.requestId,
    manager_request_id: request.managerRequestId,
    status: getEnumName(RequestStatus, request.status),
    width_processors: request.widthProcessors,
    walltime_ms: request.walltimeMs,
    submitted_unix_ms: orNull(request.submittedUnixMs),
    started_unix_ms: orNull(request.startedUnixMs),
    ended_unix_ms: orNull(request.endedUnixMs),
    seen_unix_ms: orNull(request.seenUnixMs),
    heuristic: request.heuristic,
    reasons: request.reasons.map(reasonDocument),
  };
}

/** An entry of a cluster's queue as JSON. */
export function queuedRequestJson(request: QueuedRequest): JsonOf<Shapes['queued_request']> {
  return {
    request_id: request.requestId,
    user_id: request.userId,
    width_processors: request.widthProcessors,
    slot: request.slot === undefined ? null : slotJson(request.slot),
    walltime_ms: request.walltimeMs,
    status: getEnumName(ClusterRequestStatus, request.status),
    submitted_unix_ms: request.submittedUnixMs,
    starts_unix_ms: orNull(request.startsUnixMs),
    ended_unix_ms: orNull(request.endedUnixMs),
    end_reason: request.endReason,
    reservation_id: orNull(request.reservationId),
    ranked_unix_ms: orNull(request.rankedUnixMs),
  };
}

function slotJson({ processors, memoryBytes, gpus, gpuKind }: Slot): Readonly<Record<string, unknown>> {
  return { processors, memory_bytes: memoryBytes, gpus, gpu_kind: gpuKind === '' ? null : gpuKind };
}

/** A node of a cluster as JSON. */
export function clusterNodeJson(node: ClusterNode): Readonly<Record<string, unknown>> {
  const isKnown = node.memoryBytes > 0;
  return {
    name: node.name,
    processors: node.processors,
    processors_free: node.processorsFree,
    memory_bytes: isKnown ? node.memoryBytes : null,
    memory_bytes_free: isKnown ? node.memoryBytesFree : null,
    gpus: node.gpus.map(({ gpuId, kind, isFree }) => ({ gpu_id: gpuId, kind, is_free: isFree })),
    is_away: node.isAway,
  };
}

/** Scores of a cluster's users as JSON. */
export function clusterScoresJson(
  cluster: string,
  { ordersQueue, weight, leadMsMax, scores }: GetScoresResponse,
): JsonOf<Shapes['cluster_scores']> {
  return {
    cluster,
    orders_queue: ordersQueue,
    weight_s: ordersQueue ? weight : null,
    lead_ms_max: ordersQueue ? leadMsMax : null,
    scores: scores.map(({ userId, score, countedCount, precisionMean }) => ({
      user_id: userId,
      score,
      counted_count: countedCount,
      precision_mean: precisionMean,
    })),
  };
}

/** What a tighter walltime would have gained, as JSON. */
export function walltimeGainJson(gain: WalltimeGain): JsonOf<Shapes['walltime_gain']> {
  return {
    walltime_ms: gain.walltimeMs,
    ahead_count: gain.aheadCount,
    tighter_ahead_count: gain.tighterAheadCount,
    expected_wait_ms: gain.expectedWaitMs,
    tighter_expected_wait_ms: gain.tighterExpectedWaitMs,
  };
}

/** A reservation that a cluster honours, as JSON. */
export function honouredReservationJson(one: HonouredReservation): JsonOf<Shapes['honoured_reservation']> {
  return {
    reservation_id: one.reservationId,
    user_id: one.userId,
    processors: one.processors,
    processors_used: one.processorsUsed,
    start_unix_ms: one.startUnixMs,
    end_unix_ms: one.endUnixMs,
    late_ms: one.lateMs,
  };
}

/** An event as JSON. */
export function eventJson(event: JobEvent): JsonOf<Shapes['event']> {
  return {
    sequence: event.sequence,
    at_unix_ms: event.atUnixMs,
    type: event.type,
    job_id: orNull(event.jobId),
    task_indexes: event.taskIndexes,
    task_count: event.taskCount ?? event.taskIndexes.length,
    machine_id: event.machineId,
    provider_id: event.providerId,
    request_id: event.requestId,
    reason: event.reason,
  };
}

/** A row of the ledger as JSON. */
export function ledgerRowJson(row: LedgerRow): JsonOf<Shapes['ledger_row']> {
  return { provider_id: row.providerId, request_id: row.requestId, ended: row.ended, ...ledgerTotalJson(row) };
}

/** The processor-times of a row, or of the sum of rows, as JSON. */
export function ledgerTotalJson(row: LedgerRow): JsonOf<Shapes['ledger_total']> {
  return {
    requested_processor_ms: row.requestedProcessorMs,
    held_processor_ms: row.heldProcessorMs,
    used_processor_ms: row.usedProcessorMs,
    losers_processor_ms: row.losersProcessorMs,
    killed_processor_ms: row.killedProcessorMs,
    idle_processor_ms: row.idleProcessorMs,
  };
}

function orNull(unixMs: number): number | null {
  return unixMs === 0 ? null : unixMs;
}

/** A back-up as `--json` prints it. @param replacedFolder where what it replaced is now. */
export function backupJson(
  folder: string,
  { madeUnixMs, files }: Manifest,
  replacedFolder: string | undefined,
): JsonOf<Shapes['backup']> {
  return {
    folder,
    made_unix_ms: madeUnixMs,
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    journals: files
      .filter(({ lastChange }) => lastChange !== undefined)
      .map(({ path, lastChange }) => ({ path, last_change: lastChange })),
    replaced_folder: replacedFolder ?? null,
  };
}
