import type { ChangeOf } from '@mutirao/core/machines/broker';
import type { DependencyCondition } from '@mutirao/core/messages';
import { invariant, type Instant, type JobId, type TaskIndex } from '@mutirao/core/shared';

/** What the journal says of a job that others wait for. */
export interface AwaitedFacts {
  /** How the job has ever ended, also before it was retried. */
  readonly ends: ReadonlySet<string>;
  readonly taskEnd: (taskIndex: TaskIndex) => string | undefined;
}

interface WrittenGate {
  readonly jobId: JobId;
  readonly condition: DependencyCondition;
  /** Tasks that wait for their own; empty where the whole job waits. */
  readonly waiting: Set<TaskIndex>;
}

interface WrittenGates {
  readonly gates: WrittenGate[];
  beginAt: Instant | undefined;
}

/** Believes of no job that it may start before what it waits for has come. */
export class GateOracle {
  readonly #jobs = new Map<JobId, WrittenGates>();

  onAccepted({ jobId, spec: { after = [], beginAt } }: ChangeOf<'JobAccepted'>, taskCount: number): void {
    const gates = after.map(({ jobId: awaitedId, condition }): WrittenGate => {
      const waiting = condition === 'each' ? Array.from({ length: taskCount }, (_, index) => index) : [];
      return { jobId: awaitedId, condition, waiting: new Set(waiting) };
    });
    if (gates.length > 0 || beginAt !== undefined) this.#jobs.set(jobId, { gates, beginAt });
  }

  /** @param own of the job that waits. */
  onSettled(change: ChangeOf<'DependencySettled'>, awaited: AwaitedFacts, own: Pick<AwaitedFacts, 'taskEnd'>): void {
    const { jobId, awaitedId, condition, taskIndexes } = change;
    const gates = this.#jobs.get(jobId)?.gates ?? [];
    const position = gates.findIndex((gate) => gate.jobId === awaitedId && gate.condition === condition);
    const gate = gates[position];
    invariant(gate, `job ${jobId} does not wait for job ${awaitedId} any more, and that is settled`);
    invariant(
      isMet(condition, awaited.ends),
      `job ${jobId} waits for job ${awaitedId} (${condition}), which has not come`,
    );
    for (const taskIndex of taskIndexes) {
      invariant(
        awaited.taskEnd(taskIndex) === 'finished' || own.taskEnd(taskIndex) === 'cancelled',
        `task ${taskIndex} of job ${jobId} waits for that of job ${awaitedId}, which has not finished`,
      );
      gate.waiting.delete(taskIndex);
    }
    if (gate.waiting.size === 0) gates.splice(position, 1);
  }

  onBegin({ jobId, at }: ChangeOf<'BeginReached'>): void {
    const job = this.#jobs.get(jobId);
    invariant(job?.beginAt !== undefined && job.beginAt <= at, `job ${jobId} begins before its time`);
    job.beginAt = undefined;
  }

  /** Its user retries it, or it has ended: it waits for nothing any more. */
  forget(jobId: JobId): void {
    this.#jobs.delete(jobId);
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

/** When a job has started the oracle does not know. */
function isMet(condition: DependencyCondition, ends: ReadonlySet<string>): boolean {
  switch (condition) {
    case 'ended':
      return ends.size > 0;
    case 'succeeded':
      return ends.has('finished');
    case 'failed':
      return ends.has('failed') || ends.has('cancelled');
    case 'started':
    case 'each':
      return true;
  }
}
