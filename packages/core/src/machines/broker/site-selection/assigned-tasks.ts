import { emptyRequest } from '../../../resources/index.ts';
import { type Instant, invariant, type TaskIndex } from '../../../shared/index.ts';
import { findWholeQueue, openQueue } from '../jobs/task-groups.ts';
import type { BrokerJob, BrokerProvider, TaskAssignment, TaskQueue } from '../state.ts';
import type { SiteAssignment } from './assignment.ts';

/**
 * The queue in which a task waits when it is ready: that of its place, or of its group where it has none. Cost: O(log
 * groups).
 */
export function findQueue(job: BrokerJob, index: TaskIndex): TaskQueue {
  return job.assigned.get(index)?.queue ?? findWholeQueue(job, index);
}

/** Whether tasks of a queue may run at a provider: they are assigned to it, or need no assignment. */
export function mayUse({ place }: Pick<TaskQueue, 'place'>, provider: BrokerProvider): boolean {
  return place === undefined || place === provider;
}

/** Gives a task its place, in place of the one that it had; without a provider, none. */
export function assignTask(
  job: BrokerJob,
  { taskIndex, startsBy, reason }: SiteAssignment,
  provider: BrokerProvider | undefined,
  at: Instant,
): void {
  const wasReady = findQueue(job, taskIndex).ready.delete(taskIndex);
  const source = findWholeQueue(job, taskIndex);
  if (provider === undefined) job.assigned.delete(taskIndex);
  else
    job.assigned.set(taskIndex, {
      provider,
      queue: findPart(job, source, provider) ?? openPart(job, source, provider),
      at,
      startsBy,
      reason,
    });
  if (wasReady) findQueue(job, taskIndex).ready.add(taskIndex);
}

/** Lets a task have no place any more, which is not ready. */
export function unassignTask(job: BrokerJob, index: TaskIndex): void {
  job.assigned.delete(index);
}

/**
 * Takes a task's assignment away if it runs at another provider: a replica that a provider started by itself stays
 * there.
 */
export function unassignElsewhere(job: BrokerJob, index: TaskIndex, provider: BrokerProvider): void {
  if (job.assigned.get(index)?.provider !== provider) unassignTask(job, index);
}

/** The part of a queue that is placed at a provider; undefined before anything was. Cost: O(queues of the job). */
export function findPart(
  { queues }: Pick<BrokerJob, 'queues'>,
  source: TaskQueue,
  provider: BrokerProvider,
): TaskQueue | undefined {
  return queues.find((queue) => queue.source === source && queue.place === provider);
}

/** Parts stand behind all queues that the groups of the job have. */
function openPart(job: BrokerJob, source: TaskQueue, provider: BrokerProvider): TaskQueue {
  const part = openQueue({ ...source, others: [], source, grownFrom: undefined, place: provider });
  job.queues = [...job.queues, part];
  return part;
}

/** Checks what is placed of a job. @throws {InvariantError} */
export function checkAssignments(job: BrokerJob): void {
  for (const [index, place] of job.assigned) checkAssignment(job, index, place);
  for (const queue of job.queues) {
    const { source, ready, place } = queue;
    checkGrown(job, queue);
    checkChosen(job, queue);
    invariant(
      (source !== undefined) === (typeof place === 'object'),
      () => `job ${job.jobId} has a part of a queue that is placed nowhere, or a whole one that is`,
    );
    if (source === undefined) continue;
    for (const index of ready.values())
      invariant(
        job.assigned.has(index),
        () => `task ${index} of job ${job.jobId} waits at a provider and is not placed`,
      );
  }
}

/** Checks that tasks request the memory that was chosen for them, unless they were given more. @throws {InvariantError} */
function checkChosen({ jobId, chosenMemory }: BrokerJob, queue: TaskQueue): void {
  const { memory } = queue.resources ?? emptyRequest;
  const isChosen = chosenMemory !== undefined && memory > 0 && (queue.source ?? queue).grownFrom === undefined;
  invariant(!isChosen || memory === chosenMemory, () => `tasks of job ${jobId} request other memory than was chosen`);
}

/** Checks that tasks wait with those that were given as much memory. @throws {InvariantError} */
function checkGrown(job: BrokerJob, { grownFrom, resources, ready }: TaskQueue): void {
  const asked = grownFrom === undefined ? undefined : resources?.memory;
  if (asked === undefined) return;
  for (const index of ready.values())
    invariant(
      job.tasks.get(index)?.grown?.memory === asked,
      () => `task ${index} of job ${job.jobId} waits with those that were given more memory than it was`,
    );
}

function checkAssignment(job: BrokerJob, index: TaskIndex, { provider, queue }: TaskAssignment): void {
  const name = (): string => `task ${index} of job ${job.jobId}`;
  const open = job.tasks.get(index);
  invariant(
    queue.place === provider && job.queues.includes(queue) && queue.source === findWholeQueue(job, index),
    () => `${name()} is placed in a queue of another kind, or of another provider`,
  );
  invariant(open !== undefined || queue.ready.has(index), () => `${name()} is placed and neither ready nor begun`);
  for (const { machine } of open?.replicas ?? [])
    invariant(
      machine.provider === provider,
      () => `${name()} is placed at ${provider.providerId} and runs at ${machine.provider.providerId}`,
    );
}
