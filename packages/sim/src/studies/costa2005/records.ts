import { parseObject } from '@mutirao/core/shared';
import type { JobSample } from '../../grid/sample-jobs.ts';
import { countRuns, studyHeuristics, type StudyChunk, type StudyHeuristic } from './scenarios.ts';

/** One grid job of a study. */
export interface ChunkRun extends Omit<JobSample, 'withdrawalCount' | 'releaseCount'> {
  readonly requestsMax: number;
  readonly heuristic: StudyHeuristic;
  /** The same number, the same rng. */
  readonly run: number;
}

/** What the local users of a trace were, as replayed. */
export interface TraceFacts {
  readonly requestCount: number;
  /** costa2005, Eq. 4.2; in [0, 1]. */
  readonly offeredLoad: number;
}

/** The results of a chunk. */
export interface ChunkResult {
  readonly seed: string;
  readonly facts: TraceFacts;
  readonly runs: readonly ChunkRun[];
}

/** Writes a chunk's results as JSON lines: what it is, then a line for each run. */
export function encodeChunk(chunk: StudyChunk, { seed, facts, runs }: ChunkResult): string {
  const head = {
    study: 'costa2005',
    version: 1,
    chunk: chunk.id,
    seed,
    request_count: facts.requestCount,
    offered_load: facts.offeredLoad,
    run_count: runs.length,
  };
  const lines = runs.map(({ requestsMax, heuristic, run, ...sample }) => ({
    max_requests: requestsMax,
    heuristic,
    run,
    instant_ms: sample.instant,
    turnaround_ms: sample.turnaround,
    waste_processor_ms: sample.waste,
    task_processor_ms: sample.taskTime,
    requests_made: sample.requestCount,
    ends_after_log: sample.endsAfterLog,
  }));
  return [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Reads a chunk's results; undefined where they are not all there, or are those of another chunk or seed. */
export function decodeChunk(text: string, chunk: StudyChunk, seed: string): ChunkResult | undefined {
  const lines = text.split('\n');
  const parsed = lines.slice(0, -1).map(parseObject);
  const [head, ...rest] = parsed;
  if (head?.['study'] !== 'costa2005' || head['version'] !== 1 || head['chunk'] !== chunk.id || head['seed'] !== seed)
    return undefined;
  const runs = rest.map(decodeRun);
  if (lines.at(-1) !== '' || runs.length !== countRuns(chunk) || runs.includes(undefined)) return undefined;
  return {
    seed,
    facts: { requestCount: Number(head['request_count']), offeredLoad: Number(head['offered_load']) },
    runs: runs as ChunkRun[],
  };
}

type Line = Readonly<Record<string, unknown>>;

const numbers = [
  'max_requests',
  'run',
  'instant_ms',
  'turnaround_ms',
  'waste_processor_ms',
  'task_processor_ms',
  'requests_made',
] as const;

function decodeRun(line: Line | undefined): ChunkRun | undefined {
  if (line === undefined || numbers.some((name) => typeof line[name] !== 'number')) return undefined;
  const heuristic = studyHeuristics.find((name) => name === line['heuristic']);
  if (heuristic === undefined) return undefined;
  const [requestsMax, run, instant, turnaround, waste, taskTime, requestCount] = numbers.map(
    (name) => line[name] as number,
  ) as [number, number, number, number, number, number, number];
  return {
    requestsMax,
    heuristic,
    run,
    instant,
    turnaround,
    waste,
    taskTime,
    requestCount,
    endsAfterLog: line['ends_after_log'] === true,
  };
}
