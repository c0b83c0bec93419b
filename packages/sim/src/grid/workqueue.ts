import { groupTasks, joinGroups, type TaskGroup, type TaskSpread } from '@mutirao/core/requests';
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
  /** When the latest start was that it was promised, when it was submitted; undefined where nothing is promised. */
  readonly promisedStart?: Instant | undefined;
  readonly submittedAt: Instant;
  /** Indexes of the tasks that run in it, and when each was started; in that order. */
  readonly tasks: Map<number, Instant>;
  /** Run time of the tasks that it completed. */
  taskTime: Duration;
  /** Whether a task has begun in it. */
  isUsed: boolean;
}

interface RunningTask {
  readonly endsAt: Instant;
  /** Grows with starts. */
  readonly order: number;
  readonly task: number;
  readonly request: OwnRequest;
}

/**
 * A bag of tasks, dispatched eagerly: each free processor takes a random task that has not started. No task is
 * replicated.
 *
 * The k-th task to start is the k-th draw, whatever the requests are, as long as none is aborted: two heuristics face
 * the same rng.
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
  #shortest = Infinity;
  #doneSquares = 0;
  #cutOff: readonly TaskGroup[] = [];

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

  /** How much the done tasks differ; undefined before the first. */
  get spread(): TaskSpread | undefined {
    if (this.#doneCount === 0) return undefined;
    const mean = this.#doneTime / this.#doneCount;
    const deviation = Math.sqrt(Math.max(0, this.#doneSquares / this.#doneCount - mean * mean));
    return { shortest: this.#shortest, deviation: Math.ceil(deviation) };
  }

  /** How long tasks ran that were aborted; the longest first, grouped. */
  get cutOff(): readonly TaskGroup[] {
    return this.#cutOff;
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
      request.tasks.set(task, now);
      request.isUsed = true;
      this.#running.push({ endsAt: now + this.#findTime(task), order: this.#startCount, task, request });
      this.#startCount += 1;
    }
  }

  /**
   * Notes the tasks that end now, in the order in which they started; returns the requests whose processors they leave.
   */
  finishDue(now: Instant): ReadonlySet<OwnRequest> {
    const freed = new Set<OwnRequest>();
    while (this.nextEnd <= now) {
      const { task, request } = this.#running.pop() as RunningTask;
      const time = this.#findTime(task);
      request.tasks.delete(task);
      request.idle += 1;
      request.taskTime += time;
      this.#doneCount += 1;
      this.#doneTime += time;
      this.#doneSquares += time * time;
      this.#longest = Math.max(this.#longest, time);
      this.#shortest = Math.min(this.#shortest, time);
      freed.add(request);
    }
    return freed;
  }

  /** Takes the tasks of a request that ended back into the bag. */
  abort(request: OwnRequest, now: Instant): void {
    for (const task of request.tasks.keys()) this.#waiting.push(task);
    if (request.tasks.size > 0) {
      const cut = groupTasks(Array.from(request.tasks.values(), (startedAt) => now - startedAt));
      this.#cutOff = joinGroups([...this.#cutOff, ...cut].sort((one, other) => other.time - one.time));
    }
    request.tasks.clear();
    request.idle = 0;
  }

  #findTime(task: number): Duration {
    return this.#taskTimes[task] as Duration;
  }

  #dropStale(): void {
    // A task that was aborted may run again elsewhere: what counts is whether it still runs in this request.
    for (
      let first = this.#running.first;
      first !== undefined && !first.request.tasks.has(first.task);
      first = this.#running.first
    )
      this.#running.pop();
  }
}

function endsBefore(one: RunningTask, other: RunningTask): boolean {
  return one.endsAt < other.endsAt || (one.endsAt === other.endsAt && one.order < other.order);
}
