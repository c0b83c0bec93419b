import type { HeuristicRun } from './run-chunk.ts';
import { countRuns, type HeuristicsChunk } from './scenarios.ts';

/** What the local users of a trace were, as replayed. */
export interface TraceFacts {
  readonly requestCount: number;
  /** costa2005, Eq. 4.2; in [0, 1]. */
  readonly offeredLoad: number;
}

/** The results of a chunk. */
export interface HeuristicsResult {
  readonly seed: string;
  /** Distinguishes versions of the program. */
  readonly program: string;
  readonly facts: TraceFacts;
  readonly runs: readonly HeuristicRun[];
}

/** The origin of results, except their chunk. */
export type Origin = Pick<HeuristicsResult, 'seed' | 'program'>;

/** A chunk and its results. */
export interface HeuristicsPart {
  readonly chunk: HeuristicsChunk;
  readonly result: HeuristicsResult;
}

/** What the numbers of a line are, in their order. */
const columns = [
  'max_requests',
  'run',
  'instant_ms',
  'turnaround_ms',
  'waste_processor_ms',
  'task_processor_ms',
  'first_wait_ms',
  'submissions',
  'withdrawals',
  'releases',
  'submissions_per_hour_max',
  'taken_out_per_hour_max',
  'local_requests',
  'local_wait_ms',
  'local_wait_alone_ms',
  'ends_after_log',
  'is_endless',
] as const;

/**
 * Writes a chunk's results: a line of JSON that says what it is and what its columns are, then a line of numbers for
 * each run.
 */
export function encodeResult(chunk: HeuristicsChunk, { seed, program, facts, runs }: HeuristicsResult): string {
  const head = {
    ...findHead(chunk, { seed, program }),
    request_count: facts.requestCount,
    offered_load: facts.offeredLoad,
  };
  const lines = runs.map(({ local, endsAfterLog, isEndless, ...run }) => [
    run.requestsMax,
    run.run,
    run.instant,
    run.turnaround,
    run.waste,
    run.taskTime,
    run.firstWait,
    run.submissions,
    run.withdrawals,
    run.releases,
    run.submissionsPerHour,
    run.takenOutPerHour,
    local.requestCount,
    local.withJob,
    local.alone,
    endsAfterLog ? 1 : 0,
    isEndless ? 1 : 0,
  ]);
  return [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/**
 * Reads a chunk's results; undefined where they are not all there, or are those of another chunk, log, seed or version
 * of the program.
 */
export function decodeResult(text: string, chunk: HeuristicsChunk, origin: Origin): HeuristicsResult | undefined {
  const [first = '', ...rest] = text.split('\n');
  if (rest.pop() !== '' || rest.length !== countRuns(chunk)) return undefined;
  const head = parseLine(first) as Readonly<Record<string, unknown>> | undefined;
  if (head === undefined || !isHeadOf(head, chunk, origin)) return undefined;
  const runs = rest.map(decodeRun);
  if (runs.includes(undefined)) return undefined;
  return {
    ...origin,
    facts: { requestCount: Number(head['request_count']), offeredLoad: Number(head['offered_load']) },
    runs: runs as HeuristicRun[],
  };
}

function findHead({ id, trace, variant, pending, instantCount }: HeuristicsChunk, { seed, program }: Origin): object {
  return {
    study: 'heuristics',
    version: 1,
    chunk: id,
    seed,
    program,
    log: trace.file,
    processors: trace.processors,
    walltime_max_ms: trace.walltimeMax,
    variant: variant ?? null,
    pending,
    instants: instantCount,
    columns,
  };
}

function isHeadOf(head: Readonly<Record<string, unknown>>, chunk: HeuristicsChunk, origin: Origin): boolean {
  const { request_count: requestCount, offered_load: offeredLoad, ...rest } = head;
  return (
    typeof requestCount === 'number' &&
    typeof offeredLoad === 'number' &&
    JSON.stringify(rest) === JSON.stringify(findHead(chunk, origin))
  );
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function decodeRun(line: string): HeuristicRun | undefined {
  const values = parseLine(line);
  if (!Array.isArray(values) || values.length !== columns.length || !values.every((value) => typeof value === 'number'))
    return undefined;
  const [
    requestsMax,
    run,
    instant,
    turnaround,
    waste,
    taskTime,
    firstWait,
    submissions,
    withdrawals,
    releases,
    submissionsPerHour,
    takenOutPerHour,
    requestCount,
    withJob,
    alone,
    endsAfterLog,
    isEndless,
  ] = values as unknown as Numbers;
  return {
    requestsMax,
    run,
    instant,
    turnaround,
    waste,
    taskTime,
    firstWait,
    submissions,
    withdrawals,
    releases,
    submissionsPerHour,
    takenOutPerHour,
    local: { requestCount, withJob, alone },
    endsAfterLog: endsAfterLog === 1,
    isEndless: isEndless === 1,
  };
}

/** A number for each column. */
type Numbers = ListNumbers<typeof columns>;
type ListNumbers<C extends readonly unknown[]> = { readonly [index in keyof C]: number };
