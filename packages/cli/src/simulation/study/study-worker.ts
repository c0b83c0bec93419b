import { parentPort, workerData } from 'node:worker_threads';

import { MutiraoError } from '@mutirao/api/errors';
import type { AnyChunk } from '@mutirao/sim/costa2005';
import type { SiteSelectionPart } from '@mutirao/sim/gonzalez2010';
import type { HeuristicsChunk } from '@mutirao/sim/heuristics';

import { HeuristicsPartRunner } from './heuristics-part-runner.ts';
import { SiteSelectionPartRunner } from './site-selection-part-runner.ts';
import { ChunkRunner } from './run-study-chunk.ts';

/** A part of a study that is run at a time. */
export interface PoolChunk {
  readonly id: string;
}

/** What a worker is started with. */
export interface WorkerSetup {
  /** Whose chunks it is sent. */
  readonly study: 'costa2005' | 'gonzalez2010' | 'heuristics';
  readonly data: string;
  readonly seed: string;
}

/** What a worker answers to a chunk. */
export type WorkerAnswer =
  | { readonly id: string; readonly text: string }
  | { readonly id: string; readonly code: string | undefined; readonly message: string };

const run = makeRunner(workerData as WorkerSetup);

parentPort?.on('message', (chunk: PoolChunk) => {
  parentPort?.postMessage(answerTo(chunk));
});

/** Runs chunks of one study, which is the only one whose chunks this worker gets. */
function makeRunner({ study, data, seed }: WorkerSetup): (chunk: PoolChunk) => string {
  if (study === 'costa2005') {
    const runner = new ChunkRunner(data, seed);
    return (chunk) => runner.run(chunk as AnyChunk);
  }
  if (study === 'heuristics') {
    const runner = new HeuristicsPartRunner(data, seed);
    return (chunk) => runner.run(chunk as HeuristicsChunk);
  }
  const runner = new SiteSelectionPartRunner(data, seed);
  return (chunk) => runner.run(chunk as SiteSelectionPart);
}

function answerTo(chunk: PoolChunk): WorkerAnswer {
  try {
    return { id: chunk.id, text: run(chunk) };
  } catch (error) {
    if (error instanceof MutiraoError) return { id: chunk.id, code: error.code, message: error.message };
    if (error instanceof Error && error.name === 'FormatError')
      return { id: chunk.id, code: 'MUT_SWF_SYNTAX', message: error.message };
    throw error;
  }
}
