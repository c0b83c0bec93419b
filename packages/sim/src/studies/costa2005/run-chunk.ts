import { findHeuristic, type RequestHeuristic } from '@mutirao/core/requests';
import { invariant } from '@mutirao/core/shared';
import { sampleJob } from '../../grid/sample-jobs.ts';
import type { LocalHistory } from '../../resource/local-history.ts';
import type { ChunkRun } from './records.ts';
import { drawOf, requestsMaxima, studyHeuristics, type StudyChunk } from './scenarios.ts';

/**
 * Runs all grid jobs of a chunk, in the order of maxPR, heuristic and instant.
 *
 * Instants, task times and draws depend on the seed, the job type and the number of the run alone, so that heuristics (and values of
 * maxPR) are compared pairwise; job types that differ in heterogeneity alone meet the same instants.
 *
 * @param history that of the chunk's trace.
 */
export function runChunk(chunk: StudyChunk, history: LocalHistory, seed: string): ChunkRun[] {
  const { trace: { walltimeMax, processors }, type, instantCount } = chunk;
  const luck = `${seed} ${drawOf(type)}`;
  return requestsMaxima.flatMap((requestsMax) => studyHeuristics.flatMap((name) => {
    const scenario = { ...type, heuristic: getHeuristic(name), requestsMax, widthMax: processors, walltimeMax };
    return Array.from({ length: instantCount }, (_, run) => ({ requestsMax, heuristic: name, run, ...sampleJob(history, scenario, { seed: luck, run }) }));
  }));
}

function getHeuristic(name: string): RequestHeuristic {
  const heuristic = findHeuristic(name);
  invariant(heuristic !== undefined, `there is no heuristic ${name}`);
  return heuristic;
}
