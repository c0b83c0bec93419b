import type { Worker } from 'node:worker_threads';

import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';
import type { AnyChunk } from '@mutirao/sim/costa2005';

import { startWorker } from '../start-worker.ts';
import type { WorkerAnswer, WorkerSetup } from './study-worker.ts';

/** How chunks are run. */
export interface PoolSetup extends WorkerSetup {
  readonly workerCount: number;
  /** Fires when no more is wanted. */
  readonly signal: AbortSignal;
  /** Called with each chunk's results as they come. */
  onResult(chunk: AnyChunk, text: string): void;
}

/**
 * Runs chunks on worker threads; resolves when all are done, or when `signal` has fired.
 *
 * Each worker takes the next chunk of the trace that it has, else of a trace that fewest others work on.
 *
 * @throws {MutiraoError} what the first failing chunk says.
 */
export async function runChunks(chunks: readonly AnyChunk[], setup: PoolSetup): Promise<void> {
  const queue = new ChunkQueue(chunks);
  const workers = Array.from({ length: Math.min(setup.workerCount, chunks.length) }, () => startWorker(
    new URL('./study-worker.ts', import.meta.url), { data: setup.data, seed: setup.seed } satisfies WorkerSetup,
  ));
  const stop = (): void => { for (const worker of workers) void worker.terminate(); };
  setup.signal.addEventListener('abort', stop);
  try {
    await Promise.all(workers.map((worker) => drive(worker, queue, setup)));
  } finally {
    setup.signal.removeEventListener('abort', stop);
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** Gives a worker chunks until none is left. */
function drive(worker: Worker, queue: ChunkQueue, { signal, onResult }: PoolSetup): Promise<void> {
  return new Promise((resolve, reject) => {
    let chunk: AnyChunk | undefined;
    const next = (): void => {
      chunk = signal.aborted ? undefined : queue.take(chunk?.trace.id);
      if (chunk === undefined) resolve();
      else worker.postMessage(chunk);
    };
    worker.on('error', reject);
    worker.on('exit', () => { resolve(); });
    worker.on('message', (answer: WorkerAnswer) => {
      if (chunk === undefined || signal.aborted) return;
      if ('text' in answer) {
        onResult(chunk, answer.text);
        next();
      } else reject(new MutiraoError(answer.code as ErrorCode, `${answer.id}: ${answer.message}`));
    });
    next();
  });
}

/** Chunks that nobody has taken, by trace. */
class ChunkQueue {
  readonly #waiting = new Map<string, AnyChunk[]>();
  readonly #takers = new Map<string, number>();

  constructor(chunks: readonly AnyChunk[]) {
    for (const chunk of chunks) this.#waiting.set(chunk.trace.id, [...this.#waiting.get(chunk.trace.id) ?? [], chunk]);
  }

  /** The largest chunk that waits, of that trace if there is one. */
  take(lastTrace: string | undefined): AnyChunk | undefined {
    const trace = this.#waiting.has(lastTrace ?? '') ? lastTrace ?? '' : this.#leastTaken();
    if (trace === undefined) return undefined;
    if (trace !== lastTrace) this.#takers.set(trace, (this.#takers.get(trace) ?? 0) + 1);
    const waiting = this.#waiting.get(trace) ?? [];
    const chunk = waiting.pop();
    if (waiting.length === 0) this.#waiting.delete(trace);
    return chunk;
  }

  #leastTaken(): string | undefined {
    const traces = [...this.#waiting.keys()];
    return traces.sort((one, other) => (this.#takers.get(one) ?? 0) - (this.#takers.get(other) ?? 0))[0];
  }
}
