import { getAsset, isSea } from 'node:sea';
import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';

/**
 * Starts a worker thread from its source, or from the one executable, which holds it under the source's name.
 */
export function startWorker(source: URL, workerData: unknown): Worker {
  if (!isSea()) return new Worker(source, { workerData });
  return new Worker(getAsset(basename(source.pathname, '.ts'), 'utf8'), { eval: true, workerData });
}
