import type { Worker } from 'node:worker_threads';

import { startWorker } from '../start-worker.ts';
import type { SwarmAnswer, SwarmOrder, SwarmWorkerSetup } from './swarm-worker.ts';

/** How orders are carried out. */
export interface SwarmPoolSetup extends SwarmWorkerSetup {
  readonly workerCount: number;
  /** Fires when no more is wanted. */
  readonly signal: AbortSignal;
  /** Called with each answer as it comes. */
  onAnswer(answer: SwarmAnswer): void;
}

/** Carries out orders on worker threads; resolves when all are done, or when `signal` has fired. */
export async function carryOutAll(orders: Iterable<SwarmOrder>, setup: SwarmPoolSetup): Promise<void> {
  const { scenario, failures, workerCount, signal } = setup;
  const queue = orders[Symbol.iterator]();
  const workers = Array.from({ length: workerCount }, () =>
    startWorker(new URL('./swarm-worker.ts', import.meta.url), { scenario, failures } satisfies SwarmWorkerSetup),
  );
  const stop = (): void => {
    for (const worker of workers) void worker.terminate();
  };
  signal.addEventListener('abort', stop);
  try {
    await Promise.all(workers.map((worker) => drive(worker, queue, setup)));
  } finally {
    signal.removeEventListener('abort', stop);
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** Gives a worker orders until none is left. */
function drive(worker: Worker, queue: Iterator<SwarmOrder>, { signal, onAnswer }: SwarmPoolSetup): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (): void => {
      const order = signal.aborted ? undefined : queue.next();
      if (order === undefined || order.done === true) resolve();
      else worker.postMessage(order.value);
    };
    worker.on('error', reject);
    worker.on('exit', () => {
      resolve();
    });
    worker.on('message', (answer: SwarmAnswer) => {
      if (signal.aborted) return;
      onAnswer(answer);
      next();
    });
    next();
  });
}
