import { TaskStatus, type JobSummary, type ListTasksRequest, type TaskRecord } from '@mutirao/api/broker';

import type { BrokerCalls } from '../grid-calls.ts';
import { NameTable, listRows, type ReplicaRow } from './replica-rows.ts';

const pageSize = 1000;
/** How long one call reads before it answers with the records so far. */
const readMs = 800;
/** A running job is read again after this multiple of the time that the last read took. */
const restFactor = 4;

/** What of a summary says how far a job is. */
export type Progress = Pick<
  JobSummary,
  'jobId' | 'taskCount' | 'readyCount' | 'waitingCount' | 'failedCount' | 'cancelledCount' | 'endedUnixMs'
>;

/** What runs are read by: a part of any client of a broker. */
export interface RecordsParts {
  readonly grid: { broker(): Pick<BrokerCalls, 'listTasks'> };
  readonly clock: { now(): number };
}

/**
 * What ran of a job, task by task, read from the broker in pages and kept: what has ended is read once, what runs again
 * and again, what has not begun only where the counts of the job say that there is something to find.
 */
export class JobRecords {
  readonly jobId: number;
  readonly taskCount: number;
  readonly #parts: RecordsParts;
  readonly #names = new NameTable();
  /** By index of the task: what it was when it was read last; 0 before. */
  readonly #status: Uint8Array;
  readonly #settled: ReplicaRow[] = [];
  /** Rows of tasks that may get more of them. */
  readonly #open = new Map<number, ReplicaRow[]>();
  #seenCount = 0;
  /** Where the next look for tasks that have begun goes on. */
  #cursor = 0;
  #isComplete = false;
  #notBefore = 0;
  #underway: Promise<void> | undefined;

  constructor(parts: RecordsParts, { jobId, taskCount }: Progress) {
    this.#parts = parts;
    this.jobId = jobId;
    this.taskCount = taskCount;
    this.#status = new Uint8Array(taskCount);
  }

  /** All runs that are known, in no order. */
  rows(): ReplicaRow[] {
    return [...this.#settled, ...[...this.#open.values()].flat()];
  }

  /** The status of a task as it was read last; READY before. */
  statusOf(taskIndex: number): TaskStatus {
    return (this.#status[taskIndex] || TaskStatus.READY) as TaskStatus;
  }

  /** Tasks that are known, all of them where nothing is missing. */
  get readCount(): number {
    return this.#isComplete ? this.taskCount : Math.min(this.#seenCount, Math.max(0, this.taskCount - 1));
  }

  /** Reads on for a while. Calls during that read wait for the same one. */
  async refresh(progress: Progress): Promise<void> {
    const { clock } = this.#parts;
    if (this.#hasAll(progress) && this.#open.size === 0 && !this.#wasRetried(progress)) return;
    if (this.#underway === undefined && clock.now() < this.#notBefore) return;
    this.#underway ??= this.#read(progress, readMs).finally(() => {
      this.#underway = undefined;
    });
    await this.#underway;
  }

  /** Reads all that there is, however long that takes. */
  async readAll(progress: Progress): Promise<void> {
    await this.#underway;
    if (!this.#hasAll(progress)) await this.#read(progress, Infinity);
  }

  /**
   * Whether nothing is missing of a job that has ended. The last look may have been complete and know of nothing: short
   * tasks begin and end between two looks.
   */
  #hasAll(progress: Progress): boolean {
    return this.#isComplete && progress.endedUnixMs !== 0 && this.#begunCount() >= getBegun(progress);
  }

  async #read(progress: Progress, readMost: number): Promise<void> {
    const { clock } = this.#parts;
    const beganAt = clock.now();
    const until = beganAt + readMost;
    if (this.#wasRetried(progress)) this.#reopen();
    this.#isComplete = false;
    const open = [...this.#open.keys()];
    for (let at = 0; at < open.length && clock.now() < until; at += pageSize)
      await this.#readTasks({ taskIndexes: open.slice(at, at + pageSize) });
    const begun = getBegun(progress);
    this.#cursor = Math.max(0, this.#status.findIndex(isUnbegun));
    while (this.#begunCount() < begun && this.#cursor < this.taskCount && clock.now() < until)
      await this.#readTasks({ fromTaskIndex: this.#cursor });
    this.#isComplete = this.#begunCount() >= begun;
    if (progress.endedUnixMs === 0) this.#notBefore = clock.now() + (clock.now() - beganAt) * restFactor;
  }

  /** Counted rather than kept: tasks can go back. */
  #begunCount(): number {
    let count = 0;
    for (const status of this.#status) if (!isUnbegun(status)) count += 1;
    return count;
  }

  async #readTasks(which: Partial<ListTasksRequest>): Promise<void> {
    const request = {
      jobId: this.jobId,
      taskIndexes: [],
      status: TaskStatus.UNSPECIFIED,
      pageSize,
      fromTaskIndex: 0,
      ...which,
    };
    const { tasks, nextTaskIndex } = await this.#parts.grid.broker().listTasks(request);
    for (const task of tasks) this.#take(task);
    // A page is bounded in bytes too: what was asked for by name may take several.
    if (which.taskIndexes !== undefined && nextTaskIndex !== undefined)
      return this.#readTasks({ taskIndexes: which.taskIndexes.filter((index) => index >= nextTaskIndex) });
    if (which.fromTaskIndex !== undefined) this.#cursor = nextTaskIndex ?? this.taskCount;
  }

  #take(task: TaskRecord): void {
    const { taskIndex, status } = task;
    if (taskIndex >= this.taskCount) return;
    const former = this.#status[taskIndex] ?? 0;
    if (former === 0) this.#seenCount += 1;
    // Read a second time on the way to others; its runs are here already.
    if (isSynced(former)) return;
    this.#status[taskIndex] = status;
    this.#open.delete(taskIndex);
    const rows = listRows(task, this.#names);
    if (isSynced(status)) this.#settled.push(...rows);
    else if (!isUnbegun(status) || rows.length > 0) this.#open.set(taskIndex, rows);
  }

  /** Whether tasks that had failed or were cancelled run again. */
  #wasRetried({ failedCount, cancelledCount }: Progress): boolean {
    let givenUp = 0;
    for (const status of this.#status)
      if (status === TaskStatus.FAILED || status === TaskStatus.CANCELLED) givenUp += 1;
    return givenUp > failedCount + cancelledCount;
  }

  #reopen(): void {
    const again = new Set<number>();
    for (const [index, status] of this.#status.entries())
      if (status === TaskStatus.FAILED || status === TaskStatus.CANCELLED) again.add(index);
    const kept = this.#settled.filter(({ taskIndex }) => !again.has(taskIndex));
    for (const index of again) {
      this.#open.set(
        index,
        this.#settled.filter(({ taskIndex }) => taskIndex === index),
      );
      this.#status[index] = TaskStatus.RUNNING;
    }
    this.#settled.splice(0, this.#settled.length, ...kept);
  }
}

/** Tasks of a job that have begun, whatever became of them. */
function getBegun({ taskCount, readyCount, waitingCount }: Progress): number {
  return taskCount - readyCount - waitingCount;
}

function isSynced(status: number): boolean {
  return status === TaskStatus.FINISHED || status === TaskStatus.FAILED || status === TaskStatus.CANCELLED;
}

function isUnbegun(status: number): boolean {
  return status === 0 || status === TaskStatus.READY || status === TaskStatus.WAITING;
}
