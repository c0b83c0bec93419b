import type { TakenTask, TaskGroup } from '../../../messages/index.ts';
import { IndexSet, invariant, type JobId, type TaskIndex } from '../../../shared/index.ts';
import { reviseInputs, withRevisedInputs } from '../../../resumption/index.ts';
import { TimeCurve } from '../../../times/index.ts';
import { admitTask, countUnmet } from './apply-dependencies.ts';
import { abortFollowers } from './apply-gang.ts';
import type { ChangeOf } from '../changes.ts';
import { siteSelectionOfJob } from '../site-selection/read-site-selection.ts';
import { unassignTask } from '../site-selection/assigned-tasks.ts';
import { layOutDependencies } from '../workflow/lay-out-dependencies.ts';
import { type BrokerJob, type BrokerState, clientKey, type OpenTask, schedulingDefaults } from '../state.ts';
import { askForMemory, countAllTasks, getSpec, layOutGroups } from '../jobs/task-groups.ts';
import { createGates, dropGates, isWhollyGated, noteGates, restoreGatesOf } from '../jobs/gates.ts';
import { addReadyRange } from '../jobs/ready-tasks.ts';
import { insertOpenJob } from '../jobs/serving-order.ts';

/** The job of that number, which must be there. */
export function getJob(state: BrokerState, jobId: JobId): BrokerJob {
  const job = state.jobs.get(jobId);
  invariant(job, `there is no job ${jobId}`);
  return job;
}

/** What a job has before its first gang was placed. */
export const noGangsYet: Pick<BrokerJob, 'lastGangId' | 'failedGangStarts' | 'gangsPausedUntil'> = {
  lastGangId: 0,
  failedGangStarts: 0,
  gangsPausedUntil: 0,
};

/**
 * Takes a job in: every task is ready or waits for others, but those whose results are taken over, which have finished.
 */
export function acceptJob(state: BrokerState, change: ChangeOf<'JobAccepted'>): void {
  const job = createJob(change);
  layOutGroups(job, change.spec);
  job.dependencies = layOutDependencies(change.spec);
  if (job.isHeld) job.held.addRange(0, job.taskCount);
  inherit(job, change.spec.resumes?.tasks ?? []);
  state.jobs.set(job.jobId, job);
  insertOpenJob(state, job);
  noteGates(state, job);
  if (job.clientJobId !== '') state.jobsByClientId.set(clientKey(job.userId, job.clientJobId), job);
  state.nextJobId = Math.max(state.nextJobId, job.jobId + 1);
}

function inherit(job: BrokerJob, taken: readonly TakenTask[]): void {
  let from = 0;
  for (const { taskIndex } of taken) job.finished.add(taskIndex);
  countUnmet(job);
  for (const { taskIndex } of [...taken, { taskIndex: job.taskCount }]) {
    admitRange(job, from, taskIndex - from);
    from = taskIndex + 1;
  }
}

function createJob({ jobId, userId, clientJobId, spec, at }: ChangeOf<'JobAccepted'>): BrokerJob {
  return {
    jobId,
    userId,
    clientJobId,
    label: spec.label,
    submittedAt: at,
    taskCount: countAllTasks(spec.groups),
    takesTasks: spec.open === true,
    appends: new Map(),
    processors: spec.processors,
    isGang: spec.gang === true,
    ...noGangsYet,
    replicasMax: spec.replicasMax,
    failuresMax: spec.failuresMax,
    deadline: spec.deadline,
    priority: spec.priority ?? 0,
    runningMax: spec.runningMax,
    onMachines: 0,
    verification: spec.verification,
    reservation: spec.reservation,
    reservationOver: undefined,
    scheduler: spec.scheduler ?? schedulingDefaults.scheduler,
    replicationCap: spec.replicationCap ?? schedulingDefaults.replicationCap,
    // More groups are added to its own list of them.
    spec: spec.open === true ? { ...spec, groups: [...spec.groups] } : spec,
    revisedInputs: [],
    groups: [],
    queues: [],
    queuesByKind: new Map(),
    siteSelection: siteSelectionOfJob(spec),
    assigned: new Map(),
    dependencies: undefined,
    status: 'running',
    cancelReason: '',
    endedAt: 0,
    tasks: new Map(),
    finished: new IndexSet(),
    failed: new IndexSet(),
    cancelled: new IndexSet(),
    ...createGates(spec, countAllTasks(spec.groups)),
    isHeld: spec.isHeld === true,
    held: new IndexSet(),
    parked: new IndexSet(),
    replicaCount: 0,
    failureCount: 0,
    supports: new Map(),
    doubtful: new IndexSet(),
    extraVoteCount: 0,
    times: new TimeCurve(),
    memoryPeaks: new TimeCurve(),
    chosenMemory: undefined,
    shares: new Map(),
    withSibling: new Set(),
  };
}

/** Adds tasks, which are ready, behind those that an open job has. Cost: O(what is added). */
export function appendTasks(state: BrokerState, change: ChangeOf<'TasksAppended'>): void {
  const { jobId, appendKey, firstTaskIndex, groups } = change;
  const job = getJob(state, jobId);
  const spec = getSpec(job);
  invariant(
    job.takesTasks && firstTaskIndex === job.taskCount,
    `tasks from ${firstTaskIndex} on are appended to job ${jobId} of ${job.taskCount}, open: ${job.takesTasks}`,
  );
  // The list is the job's own. A new spec object invalidates what others have cached of the old one.
  const list = spec.groups as TaskGroup[];
  for (const group of groups) list.push(group);
  job.spec = { ...spec };
  const taskCount = countAllTasks(groups);
  job.taskCount += taskCount;
  layOutGroups(job, job.spec);
  if (job.isHeld) job.held.addRange(firstTaskIndex, taskCount);
  admitRange(job, firstTaskIndex, taskCount);
  job.appends.set(appendKey, { firstTaskIndex, taskCount });
}

/** Has an open job take no more tasks. */
export function closeJob(state: BrokerState, { jobId }: ChangeOf<'JobClosed'>): void {
  getJob(state, jobId).takesTasks = false;
}

/**
 * Cancels ready and waiting tasks, and marks replicas on machines as aborting; results that are being verified are
 * still settled.
 */
export function cancelJob(state: BrokerState, change: ChangeOf<'JobCancelled'>): void {
  const job = getJob(state, change.jobId);
  job.status = 'cancelled';
  job.takesTasks = false;
  job.cancelReason = change.reason;
  for (const queue of job.queues) {
    job.cancelled.addAll(queue.ready);
    queue.ready.clear();
  }
  job.cancelled.addAll(job.parked);
  job.parked.clear();
  if (job.dependencies !== undefined) {
    job.cancelled.addAll(job.dependencies.waiting);
    job.dependencies.waiting.clear();
  }
  for (const task of job.tasks.values()) {
    if (task.status === 'ready') job.tasks.delete(task.index);
    for (const replica of task.replicas) {
      replica.status = 'aborting';
      replica.abortDisposition = 'cancelled';
      abortFollowers(replica, 'cancelled');
    }
  }
  for (const index of job.assigned.keys()) if (!job.tasks.has(index)) unassignTask(job, index);
}

/** Notes that a job's reservation is over, and whether the remaining tasks wait. */
export function leaveReservation(
  state: BrokerState,
  { jobId, code, reason, waits, at }: ChangeOf<'ReservationLeft'>,
): void {
  getJob(state, jobId).reservationOver = { code, reason, waits, at };
}

/**
 * Closes a job all of whose tasks have ended, and drops what it no longer needs. A hold ends with it, as nobody can
 * release tasks of a job that has ended: those that are retried later run.
 */
export function endJob(state: BrokerState, change: ChangeOf<'JobEnded'>): void {
  const job = getJob(state, change.jobId);
  job.status = change.status;
  job.endedAt = change.at;
  state.openJobs.delete(job.jobId);
  job.appends.clear();
  job.isHeld = false;
  job.held.clear();
  dropGates(state, job);
  if (change.status === 'finished') forgetTasks(job);
}

/** Drops jobs; a journal of which their lines were erased may not have them. */
export function forgetJobs(state: BrokerState, { jobIds }: ChangeOf<'JobsForgotten'>): void {
  for (const jobId of jobIds) {
    const job = state.jobs.get(jobId);
    state.jobs.delete(jobId);
    if (job !== undefined && job.clientJobId !== '')
      state.jobsByClientId.delete(clientKey(job.userId, job.clientJobId));
  }
}

function forgetTasks(job: BrokerJob): void {
  job.withSibling.clear();
  job.spec = undefined;
  job.groups = [];
  job.queues = [];
  job.queuesByKind.clear();
  job.assigned.clear();
  job.dependencies = undefined;
  job.finished.clear();
}

/**
 * Gives tasks that have not run yet the present contents of the job's input paths; what the others were given stays on
 * record. A result that is being verified is still settled after its task was cancelled, so it counts as run.
 */
export function getReviseInputs(state: BrokerState, { jobId, current }: ChangeOf<'InputsRevised'>): void {
  const job = getJob(state, jobId);
  invariant(job.spec, `inputs of job ${jobId} are revised, which has ended`);
  const begun = IndexSet.fromRanges(job.finished.ranges());
  for (const task of job.tasks.values())
    if (task.successes !== undefined || (task.replicas.length > 0 && !isBeingCancelled(task))) begun.add(task.index);
  job.revisedInputs = reviseInputs(job.spec, job.revisedInputs, { current, begun: [...begun.ranges()] });
  job.spec = withRevisedInputs(job.spec, job.revisedInputs);
}

/**
 * Has failed and cancelled tasks run again, those that wait for others when these have finished, their failures
 * forgotten; those whose replicas are still being ended go on without these. What their job waited for they await again.
 */
export function retryTasks(state: BrokerState, change: ChangeOf<'TasksRetried'>): void {
  const job = getJob(state, change.jobId);
  restoreGatesOf(state, job, { indexes: listRetried(job, change.taskIndexes), at: change.at });
  if (change.taskIndexes.length > 0) {
    for (const index of change.taskIndexes) retryTask(job, index);
  } else {
    for (const ended of [job.failed, job.cancelled]) retryAll(job, ended);
    for (const task of job.tasks.values()) if (isBeingCancelled(task)) revokeCancel(task);
  }
  job.status = 'running';
  job.cancelReason = '';
  job.endedAt = 0;
  if (!state.openJobs.has(job.jobId)) insertOpenJob(state, job);
}

function listRetried({ failed, cancelled, tasks }: BrokerJob, taskIndexes: readonly TaskIndex[]): IndexSet {
  const retried = new IndexSet();
  for (const index of taskIndexes) retried.add(index);
  if (taskIndexes.length > 0) return retried;
  retried.addAll(failed);
  retried.addAll(cancelled);
  for (const task of tasks.values()) if (isBeingCancelled(task)) retried.add(task.index);
  return retried;
}

/**
 * Whether replicas of an open task are being ended since it or its job was cancelled, and it would be cancelled with
 * the last.
 */
export function isBeingCancelled({ isCancelled, replicas }: OpenTask): boolean {
  return isCancelled === true || replicas.some(({ abortDisposition }) => abortDisposition === 'cancelled');
}

/** Results that its replicas still bring are not accepted: their cancellation may have left them incomplete. */
function revokeCancel(task: OpenTask): void {
  delete task.isCancelled;
  task.failureCount = 0;
  task.lossCount = 0;
  delete task.unjudged;
  task.walltimeCutCount = 0;
  task.doubtCount = 0;
  task.stopCount = 0;
  for (const replica of task.replicas)
    if (replica.abortDisposition === 'cancelled') replica.abortDisposition = 'retried';
}

function retryTask(job: BrokerJob, index: TaskIndex): void {
  const open = job.tasks.get(index);
  if (open !== undefined && isBeingCancelled(open)) {
    revokeCancel(open);
    return;
  }
  const wasEnded = job.failed.delete(index) || job.cancelled.delete(index);
  invariant(wasEnded, `task ${index} of job ${job.jobId} is retried, but neither failed nor cancelled`);
  admitTask(job, index);
}

function retryAll(job: BrokerJob, ended: IndexSet): void {
  for (const { first, count } of ended.ranges()) admitRange(job, first, count);
  ended.clear();
}

/** Tasks of a bag by the range; those of a workflow, and of a job some of whose tasks are held, one by one. */
function admitRange(job: BrokerJob, first: TaskIndex, count: number): void {
  const { dependencies, held, parked, taskCount, awaited } = job;
  if (dependencies === undefined && isWhollyGated(job)) parked.addRange(first, count);
  else if (dependencies !== undefined || (held.size > 0 && held.size < taskCount) || awaited.length > 0)
    for (let index = first; index < first + count; index++) admitTask(job, index);
  else if (held.size > 0) parked.addRange(first, count);
  else addReadyRange(job, first, count);
}

/** Has the tasks of a job ask for that much memory, but those that were given more. */
export function chooseMemory(state: BrokerState, { jobId, memory }: ChangeOf<'MemoryChosen'>): void {
  const job = getJob(state, jobId);
  job.chosenMemory = memory;
  for (const queue of job.queues) if ((queue.source ?? queue).grownFrom === undefined) askForMemory(queue, memory);
}

/** Changes how an open job is served. */
export function updateJob(state: BrokerState, { jobId, priority, runningMax }: ChangeOf<'JobUpdated'>): void {
  const job = getJob(state, jobId);
  if (runningMax !== undefined) job.runningMax = runningMax === 0 ? undefined : runningMax;
  if (priority === undefined) return;
  job.priority = priority;
  insertOpenJob(state, job);
}
