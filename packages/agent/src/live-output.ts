import type { LiveOutputPart, LiveOutputRequest, LiveOutputState } from '@mutirao/api/codecs';
import type { Duration, Instant, ReplicaId } from '@mutirao/core/shared';
import type { TaskTail } from '@mutirao/runtime/processes';

/** Where tasks run whose output can be read meanwhile. */
export interface TaskTails {
  /** What a replica's task has written so far; undefined where it does not run. */
  tail(replicaId: ReplicaId): TaskTail | undefined;
}

/** What live output needs. */
export interface LiveOutputOptions {
  /** Undefined where nothing can be read before the end. */
  readonly tails: TaskTails | undefined;
  /** Whether a replica is here: it waits, runs, or its end is not acknowledged yet. */
  isHeld(replicaId: ReplicaId): boolean;
  /** Milliseconds that only grow. */
  now(): Instant;
  /** Calls back after a delay; returns what `cancel` takes. */
  start(delay: Duration, run: () => void): unknown;
  cancel(timer: unknown): void;
  send(part: LiveOutputPart): void;
}

/** Requests that wait at once; the oldest is answered when one more comes. */
const waitingMax = 256;
/** Between two looks at what tasks write, and the same when nothing has come for some time. */
const lookInterval: Duration = 10;
const lookSeldom: Duration = 50;
const quietAfter: Duration = 2000;

interface Waiting {
  readonly request: LiveOutputRequest;
  readonly until: Instant;
}

/**
 * Answers requests for what tasks have written, each once, while the tasks run. What a task wrote last comes with the
 * report of its end.
 *
 * A task writes into memory as it does without readers: a reader that is slow finds that bytes between were dropped,
 * and one that is gone asks nothing.
 */
export class LiveOutput {
  readonly #options: LiveOutputOptions;
  readonly #waiting = new Set<Waiting>();
  #timer: unknown;
  #newsAt: Instant = 0;

  constructor(options: LiveOutputOptions) {
    this.#options = options;
  }

  /** Takes a request: it is answered at once if there is something to say. */
  ask(request: LiveOutputRequest): void {
    const now = this.#options.now();
    const waiting = { request, until: now + request.wait };
    if (this.#answer(waiting, now)) return;
    const [oldest] = this.#waiting;
    if (this.#waiting.size >= waitingMax && oldest !== undefined) {
      this.#waiting.delete(oldest);
      this.#answer({ ...oldest, until: now }, now);
    }
    this.#waiting.add(waiting);
    this.#newsAt = now;
    this.#timer ??= this.#options.start(lookInterval, this.#look);
  }

  /** Forgets all requests: there is no way to those who asked any more. */
  forget(): void {
    this.#waiting.clear();
    this.#options.cancel(this.#timer);
    this.#timer = undefined;
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    const now = this.#options.now();
    for (const waiting of this.#waiting) {
      if (!this.#answer(waiting, now)) continue;
      this.#waiting.delete(waiting);
      this.#newsAt = now;
    }
    if (this.#waiting.size === 0) return;
    this.#timer = this.#options.start(now - this.#newsAt > quietAfter ? lookSeldom : lookInterval, this.#look);
  };

  /** Answers a request unless it is better to wait. */
  #answer({ request, until }: Waiting, now: Instant): boolean {
    const { requestId, replicaId, standardOutputOffset, standardErrorOffset, bytesMax } = request;
    const tail = this.#options.tails?.tail(replicaId);
    const state = this.#getState(replicaId, tail);
    const hasNews =
      tail === undefined
        ? state !== 'waiting'
        : tail.standardOutput.writtenBytes > standardOutputOffset ||
          tail.standardError.writtenBytes > standardErrorOffset;
    if (!hasNews && now < until) return false;
    this.#options.send({
      requestId,
      replicaId,
      state,
      standardOutput: tail?.standardOutput.read(standardOutputOffset, bytesMax) ?? nothingFrom(standardOutputOffset),
      standardError: tail?.standardError.read(standardErrorOffset, bytesMax) ?? nothingFrom(standardErrorOffset),
    });
    return true;
  }

  #getState(replicaId: ReplicaId, tail: TaskTail | undefined): LiveOutputState {
    if (tail !== undefined) return 'running';
    if (!this.#options.isHeld(replicaId)) return 'unknown';
    return this.#options.tails === undefined ? 'unreadable' : 'waiting';
  }
}

function nothingFrom(offset: number): LiveOutputPart['standardOutput'] {
  return { offset, bytes: noBytes };
}

const noBytes = new Uint8Array(0);
