import { Heap } from '@mutirao/core/shared';
import type { Duration, Instant, ProcessorCount, Prng } from '@mutirao/core/shared';

/** One of a grid job's allocation requests, as its broker knows it. */
export interface OwnRequest {
  /** Its number at its resource. */
  readonly id: number;
  /** Index of its resource. */
  readonly resource: number;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** Undefined while it has not started. */
  startedAt: Instant | undefined;
  /** Undefined while it has not ended; a request that ends without having started was withdrawn. */
  endedAt: Instant | undefined;
  /** Processors without a task; 0 unless it runs. */
  idle: ProcessorCount;
  /** Indexes of the tasks that run in it. */
  readonly tasks: Set<number>;
  /** Run time of the tasks that it completed. */
  taskTime: Duration;
}

interface RunningTask {
  readonly endsAt: Instant;
  /** Grows with starts. */
  readonly order: number;
  readonly task: number;
  readonly request: OwnRequest;
}

/**
 * A bag of tasks handed out eagerly: each free processor takes a random task that has not started. No task is replicated.
 *
 * The k-th task to start is the k-th draw, whatever the requests are, as long as none is aborted: two heuristics face the same luck.
 *
 * @source costa2005, section 4.1: workqueue.
 */
export class Workqueue {
  readonly #taskTimes: readonly Duration[];
  readonly #picks: Prng;
  /** Indexes of tasks that wait, in no particular order. */
  readonly #waiting: number[];
  readonly #running = new Heap<RunningTask>(endsBefore);
  #startCount = 0;
  #doneCount = 0;
  #doneTime = 0;
  #longest = 0;

  /** @param taskTimes run time of each task, more than 0. */
  constructor(taskTimes: readonly Duration[], picks: Prng) {
    this.#taskTimes = taskTimes;
    this.#picks = picks;
    this.#waiting = taskTimes.map((_, index) => index);
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  get doneCount(): number {
    return this.#doneCount;
  }

  /** Tasks not done, running ones included. */
  get pendingCount(): number {
    return this.#taskTimes.length - this.#doneCount;
  }

  /** Run time of all done tasks. */
  get doneTime(): Duration {
    return this.#doneTime;
  }

  /** The longest done task; 0 before the first. */
  get longest(): Duration {
    return this.#longest;
  }

  /** When the next task ends; Infinity when none runs. */
  get nextEnd(): Instant {
    this.#dropStale();
    return this.#running.first?.endsAt ?? Infinity;
  }

  /** Gives tasks to the idle processors of a running request. Cost: O(log running) for each. */
  fill(request: OwnRequest, now: Instant): void {
    while (request.idle > 0 && this.#waiting.length > 0) {
      const pick = this.#picks.below(this.#waiting.length);
      const task = this.#waiting[pick] as number;
      this.#waiting[pick] = this.#waiting[this.#waiting.length - 1] as number;
      this.#waiting.pop();
      request.idle -= 1;
      request.tasks.add(task);
      this.#running.push({ endsAt: now + this.#timeOf(task), order: this.#startCount, task, request });
      this.#startCount += 1;
    }
  }

  /** Notes the tasks that end now, in the order in which they started; returns the requests whose processors they leave. */
  finishDue(now: Instant): ReadonlySet<OwnRequest> {
    const freed = new Set<OwnRequest>();
    while (this.nextEnd <= now) {
      const { task, request } = this.#running.pop() as RunningTask;
      const time = this.#timeOf(task);
      request.tasks.delete(task);
      request.idle += 1;
      request.taskTime += time;
      this.#doneCount += 1;
      this.#doneTime += time;
      this.#longest = Math.max(this.#longest, time);
      freed.add(request);
    }
    return freed;
  }

  /** Takes the tasks of a request that ended back into the bag. */
  abort(request: OwnRequest): void {
    for (const task of request.tasks) this.#waiting.push(task);
    request.tasks.clear();
    request.idle = 0;
  }

  #timeOf(task: number): Duration {
    return this.#taskTimes[task] as Duration;
  }

  #dropStale(): void {
    // A task that was aborted may run again elsewhere: what counts is whether it still runs in this request.
    for (let first = this.#running.first; first !== undefined && !first.request.tasks.has(first.task); first = this.#running.first) this.#running.pop();
  }
}

function endsBefore(one: RunningTask, other: RunningTask): boolean {
  return one.endsAt < other.endsAt || (one.endsAt === other.endsAt && one.order < other.order);
}
