import type { ChangeOf } from '@mutirao/core/machines/broker';
import type { DependencyCondition } from '@mutirao/core/messages';
import { invariant, type Instant, type JobId, type TaskIndex } from '@mutirao/core/shared';

/** What the journal says of a job that others wait for. */
export interface AwaitedFacts {
  /** How the job has ever ended, also before it was retried. */
  readonly ends: ReadonlySet<string>;
  /** Whether a task of it has ever begun or ended. */
  readonly hasStarted: boolean;
  readonly taskEnd: (taskIndex: TaskIndex) => string | undefined;
}

interface WrittenGate {
  readonly jobId: JobId;
  readonly condition: DependencyCondition;
  /** Tasks that wait for their own; empty where the whole job waits. */
  readonly waiting: Set<TaskIndex>;
}

interface WrittenGates {
  readonly spec: Pick<ChangeOf<'JobAccepted'>['spec'], 'after' | 'beginAt'>;
  gates: WrittenGate[];
  beginAt: Instant | undefined;
  /** A retried job no longer waits for jobs that have ended in another way than required. */
  wasRetried: boolean;
}

/** Believes of no job that it may start before what it waits for has come. */
export class GateOracle {
  readonly #jobs = new Map<JobId, WrittenGates>();

  onAccepted({ jobId, spec }: ChangeOf<'JobAccepted'>, taskCount: number): void {
    const { after = [], beginAt } = spec;
    const gates = after.map(({ jobId: awaitedId, condition }): WrittenGate => {
      const waiting = condition === 'each' ? Array.from({ length: taskCount }, (_, index) => index) : [];
      return { jobId: awaitedId, condition, waiting: new Set(waiting) };
    });
    if (gates.length > 0 || beginAt !== undefined) this.#jobs.set(jobId, { spec, gates, beginAt, wasRetried: false });
  }

  /** @param own of the job that waits. */
  onSettled(change: ChangeOf<'DependencySettled'>, awaited: AwaitedFacts, own: Pick<AwaitedFacts, 'taskEnd'>): void {
    const { jobId, awaitedId, condition, taskIndexes } = change;
    const job = this.#get(jobId);
    const { wasRetried } = job;
    const gate = findGate(job, awaitedId, condition);
    // Of what was never placed the journal does not say that it is retried.
    if (gate === undefined && wasRetried && condition === 'each') return;
    invariant(gate, `job ${jobId} does not wait for job ${awaitedId} any more, and that is settled`);
    invariant(
      isMet(condition, awaited) || isInsisted(job, awaited),
      `job ${jobId} waits for job ${awaitedId} (${condition}), which has not come`,
    );
    for (const taskIndex of taskIndexes) {
      invariant(
        wasRetried || hasTaskCome(taskIndex, awaited, own),
        `task ${taskIndex} of job ${jobId} waits for that of job ${awaitedId}, which has not finished`,
      );
      gate.waiting.delete(taskIndex);
    }
    if (gate.waiting.size === 0) job.gates.splice(job.gates.indexOf(gate), 1);
  }

  #get(jobId: JobId): WrittenGates {
    const job = this.#jobs.get(jobId);
    invariant(job, `job ${jobId} never waited for anything, and that is settled`);
    return job;
  }

  onBegin({ jobId, at }: ChangeOf<'BeginReached'>): void {
    const job = this.#jobs.get(jobId);
    invariant(job?.beginAt !== undefined && job.beginAt <= at, `job ${jobId} begins before its time`);
    job.beginAt = undefined;
  }

  /** It has ended: it waits for nothing, unless it is retried. */
  onEnded(jobId: JobId): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    job.gates = [];
    job.beginAt = undefined;
  }

  /** Tasks that are retried wait again for what their job waited for, one that is over as a whole. */
  onRetried(
    { jobId, at }: ChangeOf<'TasksRetried'>,
    { taskIndexes, isOver }: { readonly taskIndexes: readonly TaskIndex[]; readonly isOver: boolean },
  ): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    job.wasRetried = true;
    const { after = [], beginAt = 0 } = job.spec;
    for (const { jobId: awaitedId, condition } of after) {
      const waiting = condition === 'each' ? taskIndexes : [];
      if (isOver || waiting.length > 0) awaitAgain(job, { jobId: awaitedId, condition }, waiting);
    }
    if (isOver && beginAt > at) job.beginAt = beginAt;
  }

  checkStart(jobId: JobId, taskIndexes: readonly TaskIndex[]): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    invariant(job.beginAt === undefined, `job ${jobId} starts before its time`);
    for (const { jobId: awaitedId, condition, waiting } of job.gates)
      invariant(
        condition === 'each' && !taskIndexes.some((index) => waiting.has(index)),
        `job ${jobId} waits for job ${awaitedId} (${condition}) and starts`,
      );
  }
}

function isInsisted({ wasRetried }: WrittenGates, { ends }: AwaitedFacts): boolean {
  return wasRetried && ends.size > 0;
}

/** The task itself has finished, or the one that waits for it was cancelled. */
function hasTaskCome(taskIndex: TaskIndex, awaited: AwaitedFacts, own: Pick<AwaitedFacts, 'taskEnd'>): boolean {
  return awaited.taskEnd(taskIndex) === 'finished' || own.taskEnd(taskIndex) === 'cancelled';
}

function findGate({ gates }: WrittenGates, jobId: JobId, condition: DependencyCondition): WrittenGate | undefined {
  return gates.find((gate) => gate.jobId === jobId && gate.condition === condition);
}

function awaitAgain(
  job: WrittenGates,
  { jobId, condition }: Pick<WrittenGate, 'jobId' | 'condition'>,
  taskIndexes: readonly TaskIndex[],
): void {
  const gate = findGate(job, jobId, condition) ?? { jobId, condition, waiting: new Set<TaskIndex>() };
  if (!job.gates.includes(gate)) job.gates.push(gate);
  for (const taskIndex of taskIndexes) gate.waiting.add(taskIndex);
}

/** Whether what each task waits for has come is asked task by task. */
function isMet(condition: DependencyCondition, { ends, hasStarted }: AwaitedFacts): boolean {
  switch (condition) {
    case 'ended':
      return ends.size > 0;
    case 'succeeded':
      return ends.has('finished');
    case 'failed':
      return ends.has('failed') || ends.has('cancelled');
    case 'started':
      return hasStarted || ends.size > 0;
    case 'each':
      return true;
  }
}
