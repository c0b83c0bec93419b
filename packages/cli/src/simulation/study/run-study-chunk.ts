import { join } from 'node:path';

import { conservativeBackfilling } from '@mutirao/core/queue';
import { LocalHistory, measureTrace, scaleSubmissions } from '@mutirao/sim';
import {
  compareStarts,
  encodeChunk,
  encodeStarts,
  isStartsChunk,
  runChunk,
  type AnyChunk,
  type StudyChunk,
  type StudyTrace,
  type TraceFacts,
} from '@mutirao/sim/costa2005';

import { readTrace } from '../read-trace.ts';

/** A trace that was replayed; kept for the next chunk, which mostly is of the same one. */
interface LoadedTrace {
  /** The trace and the compression. */
  readonly id: string;
  readonly history: LocalHistory;
  readonly facts: TraceFacts;
}

/** Runs chunks of a study on the logs of a folder. */
export class ChunkRunner {
  readonly #data: string;
  readonly #seed: string;
  #loaded: LoadedTrace | undefined;

  /** @param data holds the logs, as `StudyTrace.file` names them. */
  constructor(data: string, seed: string) {
    this.#data = data;
    this.#seed = seed;
  }

  /** Runs a chunk and returns its results as JSON lines. @throws {MutiraoError} as `readTrace`. */
  run(chunk: AnyChunk): string {
    if (!isStartsChunk(chunk)) return this.#runJobs(chunk);
    const { file, processors } = chunk.trace;
    const { requests } = readTrace({ file, path: join(this.#data, file), processors });
    return encodeStarts(chunk, { seed: this.#seed, ...compareStarts(chunk, requests) });
  }

  #runJobs(chunk: StudyChunk): string {
    const compression = chunk.variant?.compression ?? 'start-now';
    const id = `${chunk.trace.id} ${compression}`;
    if (this.#loaded?.id !== id) this.#loaded = { id, ...loadTrace(this.#data, chunk.trace, compression) };
    const { history, facts } = this.#loaded;
    return encodeChunk(chunk, { seed: this.#seed, facts, runs: runChunk(chunk, history, this.#seed) });
  }
}

function loadTrace(
  data: string,
  { file, processors, loadFactor }: StudyTrace,
  compression: 'start-now' | 'reinsert',
): Omit<LoadedTrace, 'id'> {
  const read = readTrace({ file, path: join(data, file), processors });
  const requests = scaleSubmissions(read.requests, loadFactor);
  // The offered load needs the ends of the log only, so that any start will do.
  const { offeredLoad } = measureTrace(
    requests.map((request) => ({ ...request, startedAt: request.submittedAt })),
    processors,
  );
  const history = new LocalHistory({ policy: conservativeBackfilling(compression), processors, trace: requests });
  return { history, facts: { requestCount: requests.length, offeredLoad } };
}
