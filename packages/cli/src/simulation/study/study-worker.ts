import { parentPort, workerData } from 'node:worker_threads';

import { MutiraoError } from '@mutirao/api/errors';
import type { AnyChunk } from '@mutirao/sim/costa2005';

import { ChunkRunner } from './run-study-chunk.ts';

/** What a worker is started with. */
export interface WorkerSetup {
  readonly data: string;
  readonly seed: string;
}

/** What a worker answers to a chunk. */
export type WorkerAnswer =
  | { readonly id: string; readonly text: string }
  | { readonly id: string; readonly code: string | undefined; readonly message: string };

const { data, seed } = workerData as WorkerSetup;
const runner = new ChunkRunner(data, seed);

parentPort?.on('message', (chunk: AnyChunk) => { parentPort?.postMessage(answerTo(chunk)); });

function answerTo(chunk: AnyChunk): WorkerAnswer {
  try {
    return { id: chunk.id, text: runner.run(chunk) };
  } catch (error) {
    if (error instanceof MutiraoError) return { id: chunk.id, code: error.code, message: error.message };
    if (error instanceof Error && error.name === 'FormatError') return { id: chunk.id, code: 'MUT_SWF_SYNTAX', message: error.message };
    throw error;
  }
}
