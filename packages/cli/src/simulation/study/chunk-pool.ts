import type { Worker } from 'node:worker_threads';

import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';

import { startWorker } from '../start-worker.ts';
import type { PoolChunk, WorkerAnswer, WorkerSetup } from './study-worker.ts';

/** How chunks are run. */
export interface PoolSetup<C extends PoolChunk> extends WorkerSetup {
  readonly workerCount: number;
  /** Fires when no more is wanted. */
  readonly signal: AbortSignal;
  /** What chunks have in common that is slow to read: a worker stays with it. */
  groupOf(chunk: C): string;
  /** Called with each chunk's results as they come. */
  onResult(chunk: C, text: string): void;
}

/**
 * Runs chunks on worker threads; resolves when all are done, or when `signal` has fired.
 *
 * Each worker takes the next chunk of the group that it has, else of a group that fewest others work on; of a group the
 * last one first.
 *
 * @throws {MutiraoError} what the first failing chunk says.
 */
export async function runChunks<C extends PoolChunk>(chunks: readonly C[], setup: PoolSetup<C>): Promise<void> {
  const queue = new ChunkQueue(chunks, (chunk: C) => setup.groupOf(chunk));
  const workers = Array.from({ length: Math.min(setup.workerCount, chunks.length) }, () =>
    startWorker(new URL('./study-worker.ts', import.meta.url), {
      study: setup.study,
      data: setup.data,
      seed: setup.seed,
    } satisfies WorkerSetup),
  );
  const stop = (): void => {
    for (const worker of workers) void worker.terminate();
  };
  setup.signal.addEventListener('abort', stop);
  try {
    await Promise.all(workers.map((worker) => drive(worker, queue, setup)));
  } finally {
    setup.signal.removeEventListener('abort', stop);
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** Gives a worker chunks until none is left. */
function drive<C extends PoolChunk>(worker: Worker, queue: ChunkQueue<C>, setup: PoolSetup<C>): Promise<void> {
  const { signal } = setup;
  return new Promise((resolve, reject) => {
    let chunk: C | undefined;
    const next = (): void => {
      chunk = signal.aborted ? undefined : queue.take(chunk);
      if (chunk === undefined) resolve();
      else worker.postMessage(chunk);
    };
    worker.on('error', reject);
    worker.on('exit', () => {
      resolve();
    });
    worker.on('message', (answer: WorkerAnswer) => {
      if (chunk === undefined || signal.aborted) return;
      if ('text' in answer) {
        setup.onResult(chunk, answer.text);
        next();
      } else reject(new MutiraoError(answer.code as ErrorCode, `${answer.id}: ${answer.message}`));
    });
    next();
  });
}

/** Chunks that nobody has taken, by group. */
class ChunkQueue<C extends PoolChunk> {
  readonly #waiting = new Map<string, C[]>();
  readonly #takers = new Map<string, number>();
  readonly #groupOf: (chunk: C) => string;

  constructor(chunks: readonly C[], groupOf: (chunk: C) => string) {
    this.#groupOf = groupOf;
    for (const chunk of chunks)
      this.#waiting.set(groupOf(chunk), [...(this.#waiting.get(groupOf(chunk)) ?? []), chunk]);
  }

  /** The last chunk that waits, of the group of that one if there is one. */
  take(last: C | undefined): C | undefined {
    const lastGroup = last === undefined ? undefined : this.#groupOf(last);
    const group = this.#waiting.has(lastGroup ?? '') ? (lastGroup ?? '') : this.#leastTaken();
    if (group === undefined) return undefined;
    if (group !== lastGroup) this.#takers.set(group, (this.#takers.get(group) ?? 0) + 1);
    const waiting = this.#waiting.get(group) ?? [];
    const chunk = waiting.pop();
    if (waiting.length === 0) this.#waiting.delete(group);
    return chunk;
  }

  #leastTaken(): string | undefined {
    const groups = [...this.#waiting.keys()];
    return groups.sort((one, other) => (this.#takers.get(one) ?? 0) - (this.#takers.get(other) ?? 0))[0];
  }
}
