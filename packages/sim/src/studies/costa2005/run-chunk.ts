import { findHeuristic, heuristicDefaults, type RequestHeuristic } from '@mutirao/core/requests';
import { invariant } from '@mutirao/core/shared';
import { sampleJob } from '../../grid/sample-jobs.ts';
import type { LocalHistory } from '../../resource/local-history.ts';
import type { ChunkRun } from './records.ts';
import { nameDraw, requestsMaxima, studyHeuristics, type StudyChunk } from './scenarios.ts';
import type { StudyVariant } from './variants.ts';

/**
 * Runs all grid jobs of a chunk, in the order of maxPR, heuristic and instant.
 *
 * Instants, task times and draws depend on the seed, the job type and the number of the run alone, so that heuristics
 * (and values of
 * maxPR) are compared pairwise; job types that differ in heterogeneity alone meet the same instants.
 *
 * @param history that of the chunk's trace, under the chunk's compression.
 */
export function runChunk(chunk: StudyChunk, history: LocalHistory, seed: string): ChunkRun[] {
  const {
    trace: { walltimeMax, processors },
    type,
    variant = {},
    instantCount,
  } = chunk;
  const { options, releasesIdle, widthShare = 1 }: Partial<StudyVariant> = variant;
  const fixed = {
    ...type,
    options: { ...heuristicDefaults, ...options },
    releasesIdle: releasesIdle === true,
    widthMax: Math.floor(processors * widthShare),
    walltimeMax,
  };
  const rng = `${seed} ${nameDraw(type)}`;
  return requestsMaxima.flatMap((requestsMax) =>
    studyHeuristics.flatMap((name) => {
      const scenario = { ...fixed, heuristic: getHeuristic(name), requestsMax };
      return Array.from({ length: instantCount }, (_, run) => {
        // What is kept of a job: none of these heuristics withdraws or releases anything.
        const { instant, turnaround, waste, taskTime, requestCount, endsAfterLog } = sampleJob(history, scenario, {
          seed: rng,
          run,
        });
        return { requestsMax, heuristic: name, run, instant, turnaround, waste, taskTime, requestCount, endsAfterLog };
      });
    }),
  );
}

function getHeuristic(name: string): RequestHeuristic {
  const heuristic = findHeuristic(name);
  invariant(heuristic !== undefined, `there is no heuristic ${name}`);
  return heuristic;
}
