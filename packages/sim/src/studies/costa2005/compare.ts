import type { ChunkResult, ChunkRun } from './records.ts';
import {
  nameDraw,
  nameType,
  requestsMaxima,
  studyHeuristics,
  type JobType,
  type StudyChunk,
  type StudyHeuristic,
  type StudyTrace,
} from './scenarios.ts';
import type { PairedValues } from './statistics.ts';

/** A chunk and its results. */
export interface StudyPart {
  readonly chunk: StudyChunk;
  readonly result: ChunkResult;
}

/** Everything about one trace. */
export interface TraceResults {
  readonly trace: StudyTrace;
  readonly parts: readonly StudyPart[];
}

/** What is compared of two heuristics. */
export type Measure = 'turnaround' | 'waste';

/** Groups parts by trace, in the order in which they come. */
export function groupByTrace(parts: readonly StudyPart[]): TraceResults[] {
  const groups = new Map<string, StudyPart[]>();
  for (const part of parts) groups.set(part.chunk.trace.id, [...(groups.get(part.chunk.trace.id) ?? []), part]);
  return [...groups.values()].flatMap((group) =>
    group[0] === undefined ? [] : [{ trace: group[0].chunk.trace, parts: group }],
  );
}

/** The part with its first runs only. */
export function firstRuns({ chunk, result }: StudyPart, count: number): StudyPart {
  return { chunk, result: { ...result, runs: result.runs.filter(({ run }) => run < count) } };
}

/** The runs of one scenario, by number. */
export function listRuns({ result }: StudyPart, requestsMax: number, heuristic: StudyHeuristic): readonly ChunkRun[] {
  return result.runs
    .filter((run) => run.requestsMax === requestsMax && run.heuristic === heuristic)
    .sort((one, other) => one.run - other.run);
}

/** Static and another heuristic in pairs, for each scenario of the parts: by part, then by maxPR. */
export function listPairs(
  parts: readonly StudyPart[],
  other: StudyHeuristic,
  measure: Measure,
  maxima = requestsMaxima,
): PairedValues[] {
  return parts.flatMap((part) =>
    maxima.map((requestsMax) => ({
      draw: nameDraw(part.chunk.type),
      reference: listRuns(part, requestsMax, 'static').map((run) => run[measure]),
      other: listRuns(part, requestsMax, other).map((run) => run[measure]),
    })),
  );
}

/** Job types that differ in heterogeneity alone, as the figures of the source put them together. */
export function groupByShape(
  parts: readonly StudyPart[],
): { readonly label: string; readonly parts: readonly StudyPart[] }[] {
  const groups = new Map<string, StudyPart[]>();
  for (const part of parts) {
    const label = getLabel(part.chunk.type);
    groups.set(label, [...(groups.get(label) ?? []), part]);
  }
  return [...groups].map(([label, group]) => ({ label, parts: group }));
}

/** What job types that differ in heterogeneity alone have in common: `100 x 1000 s`. */
export function getLabel({ taskCount, meanTaskTime }: JobType): string {
  return `${taskCount} x ${meanTaskTime / 1000} s`;
}

/** How the scenarios of a trace fell out. */
export interface ScenarioCounts {
  readonly scenarios: number;
  /** Static has the shorter mean turnaround. */
  readonly staticWins: number;
  /** The mean turnaround of mixed lies between those of the others, or equals one. */
  readonly mixedBetween: number;
  /** The same of single jobs: triples of runs with the same rng. */
  readonly triples: number;
  readonly triplesBetween: number;
  readonly runs: number;
  readonly endedAfterLog: number;
  /** The greatest of the per-scenario speedups of adaptive, and whose it is. */
  readonly greatest: { readonly speedup: number; readonly scenario: string };
}

/** Counts over the scenarios of a trace. */
export function countScenarios(parts: readonly StudyPart[]): ScenarioCounts {
  let [scenarios, staticWins, mixedBetween, triples, triplesBetween, runs, endedAfterLog] = [0, 0, 0, 0, 0, 0, 0];
  let greatest = { speedup: 0, scenario: '' };
  for (const part of parts) {
    runs += part.result.runs.length;
    endedAfterLog += part.result.runs.filter((run) => run.endsAfterLog).length;
    for (const requestsMax of requestsMaxima) {
      const byHeuristic = studyHeuristics.map((name) =>
        listRuns(part, requestsMax, name).map(({ turnaround }) => turnaround),
      ) as [number[], number[], number[]];
      const [fixed, adaptive, mixed] = byHeuristic.map(getTotal) as [number, number, number];
      scenarios += 1;
      if (fixed < adaptive) staticWins += 1;
      if (isBetween(mixed, fixed, adaptive)) mixedBetween += 1;
      triples += byHeuristic[0].length;
      triplesBetween += byHeuristic[0].filter((own, run) =>
        isBetween(byHeuristic[2][run] ?? NaN, own, byHeuristic[1][run] ?? NaN),
      ).length;
      if (fixed / adaptive > greatest.speedup)
        greatest = { speedup: fixed / adaptive, scenario: `${nameType(part.chunk.type)}, maxPR ${requestsMax}` };
    }
  }
  return { scenarios, staticWins, mixedBetween, triples, triplesBetween, runs, endedAfterLog, greatest };
}

function isBetween(value: number, one: number, other: number): boolean {
  return value >= Math.min(one, other) && value <= Math.max(one, other);
}

function getTotal(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Waste over useful task time, all scenarios of the parts together. */
export function relativeWaste(parts: readonly StudyPart[], heuristic: StudyHeuristic): number {
  let [waste, useful] = [0, 0];
  for (const { result } of parts) {
    for (const run of result.runs) {
      if (run.heuristic !== heuristic) continue;
      waste += run.waste;
      useful += run.taskTime;
    }
  }
  return useful > 0 ? waste / useful : NaN;
}
