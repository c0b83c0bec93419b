import { resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { LocalHistory, measureTrace } from '@mutirao/sim';
import {
  encodeResult,
  getPolicy,
  runChunk,
  type HeuristicsChunk,
  type HeuristicsPart,
  type HeuristicsTrace,
  type PolicyName,
} from '@mutirao/sim/heuristics';

import { readTrace, type TraceFile } from '../read-trace.ts';
import { getProgram } from './heuristics-program.ts';

/** A trace that was replayed; kept for the next chunk, which mostly is of the same one. */
interface LoadedTrace {
  /** The log and the policy. */
  readonly key: string;
  readonly history: LocalHistory;
  readonly facts: HeuristicsPart['result']['facts'];
}

/** Runs chunks of the study of heuristics on the logs of a folder. */
export class HeuristicsPartRunner {
  readonly #data: string;
  readonly #seed: string;
  #loaded: LoadedTrace | undefined;

  /**
   * @param data holds the logs, as `HeuristicsTrace.file` names them; one that is named by its whole path may be
   * elsewhere.
   */
  constructor(data: string, seed: string) {
    this.#data = data;
    this.#seed = seed;
  }

  /** Runs a chunk and returns its results, a line each. @throws {MutiraoError} as `readStudyLog`. */
  run(chunk: HeuristicsChunk): string {
    const key = `${chunk.trace.file} ${chunk.trace.processors} ${chunk.policy}`;
    if (this.#loaded?.key !== key) this.#loaded = { key, ...load(this.#data, chunk.trace, chunk.policy) };
    const { history, facts } = this.#loaded;
    return encodeResult(chunk, {
      seed: this.#seed,
      program: getProgram(chunk.heuristic),
      facts,
      runs: runChunk(chunk, history, this.#seed),
    });
  }
}

/**
 * Reads a log of the study. @param wanted processors of the machine; left out, what the log says. @throws
 * {MutiraoError} as `readTrace`; MUT_BAD_REQUEST where it says of no request for how long its user asked.
 */
export function readStudyLog(data: string, file: string, wanted: number | undefined): TraceFile {
  const read = readTrace({ file, path: resolve(data, file), processors: wanted });
  if (read.noRequestedTimeCount === read.requests.length) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${file} says of none of its ${read.requests.length} requests for how long its user asked; expected a log ` +
        'with requested times',
    );
  }
  return read;
}

function load(data: string, trace: HeuristicsTrace, policy: PolicyName): Omit<LoadedTrace, 'key'> {
  const { requests, processors } = readStudyLog(data, trace.file, trace.processors);
  // The offered load needs the ends of the log only, so that any start will do.
  const { offeredLoad } = measureTrace(
    requests.map((request) => ({ ...request, startedAt: request.submittedAt })),
    processors,
  );
  return {
    history: new LocalHistory({ policy: getPolicy(policy), processors, trace: requests }),
    facts: { requestCount: requests.length, offeredLoad },
  };
}
