import type { WorkflowWork, WorkflowWorkReplies } from './workflow-worker.ts';

/** Starts a worker; the caller ends it. */
export function startWorker(): Worker {
  return new Worker('/assets/workflow-worker.js', { type: 'module' });
}

/** Has one thing computed by a worker. @throws Error when the worker fails. */
export function askWorker<K extends WorkflowWork['kind']>(
  worker: Worker,
  work: Extract<WorkflowWork, { kind: K }>,
): Promise<WorkflowWorkReplies[K]> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<WorkflowWorkReplies[K]>) => resolve(data);
    worker.onerror = () => reject(new Error('The page could not compute this in the background.'));
    worker.postMessage(work);
  });
}
