import { getMakespan, type Arrival, type ArrivalResult } from '@mutirao/core/workflow';
import { summarize, type Summary } from '../../summarize.ts';
import type { StudyCluster } from './clusters.ts';
import { drawArrivals, type JobReading } from './draw-jobs.ts';
import { listOtherStrategies, listSeedStrategies, runStrategy } from './strategies.ts';

/** What of the study is run. */
export interface WorkflowStudySettings {
  readonly isQuick: boolean;
  readonly seed: string;
}

/** How the seed is read where it leaves a choice. */
export interface Reading {
  readonly name: string;
  readonly jobs: JobReading;
  /** Whether data comes while the processors that wait for it compute something else, under HPTS and iHPTS. */
  readonly overlaps: boolean;
}

/** The reading of all tables and figures, then those that the claims are tried on as well. */
export const readings: readonly [Reading, ...Reading[]] = [
  { name: 'as described below', jobs: { sizes: 'any', exchangeFactor: 1 }, overlaps: true },
  { name: 'HPTS without overlap', jobs: { sizes: 'any', exchangeFactor: 1 }, overlaps: false },
  { name: 'twenty times the exchange', jobs: { sizes: 'any', exchangeFactor: 20 }, overlaps: true },
  { name: 'jobs of equal length', jobs: { sizes: 'even', exchangeFactor: 1 }, overlaps: true },
];

/** Draws of jobs that a mean is taken of. @param place of the reading. */
export function getDraws({ isQuick }: WorkflowStudySettings, place: number): number {
  if (isQuick) return place === 0 ? 20 : 10;
  return place === 0 ? 200 : 60;
}

/** The result of one strategy on one cluster with the jobs of one draw. */
export interface RunMeasures {
  /** From the first start to the last end, in seconds. */
  readonly makespan: number;
  /** Processor-time in tasks over processors times makespan. */
  readonly utilisation: number;
  /** From the arrival of a job to the start of its first task, the mean over jobs, in seconds. */
  readonly wait: number;
}

/** All draws of one cluster. */
export interface ClusterRuns {
  readonly cluster: StudyCluster;
  /** By name of the strategy; at each index the same jobs. */
  readonly runs: ReadonlyMap<string, readonly RunMeasures[]>;
}

/** All clusters under one reading. */
export interface ReadingRuns {
  readonly reading: Reading;
  readonly clusters: readonly ClusterRuns[];
}

/** The jobs of a draw. @param draw from 0. */
export function drawOf({ seed }: WorkflowStudySettings, { jobs }: Reading, draw: number): Arrival[] {
  return drawArrivals(`${seed}/${draw}`, jobs);
}

/** Measures one run. @param arrivals its jobs. */
export function measureRun(
  { workflow, schedule }: ArrivalResult,
  arrivals: readonly Arrival[],
  processorCount: number,
): RunMeasures {
  const makespan = getMakespan(schedule);
  const used = schedule.placements.reduce(
    (sum, { start, end, processors }) => sum + (end - start) * processors.length,
    0,
  );
  let first = 0;
  const waits = arrivals.map(({ workflow: { tasks }, at }) => {
    const starts = schedule.placements.slice(first, first + tasks.length).map(({ start }) => start);
    first += tasks.length;
    return Math.min(...starts) - at;
  });
  if (first !== workflow.tasks.length) throw new Error(`${first} tasks arrived, ${workflow.tasks.length} ran`);
  return {
    makespan: makespan / 1000,
    utilisation: used / (processorCount * makespan),
    wait: waits.reduce((sum, wait) => sum + wait, 0) / waits.length / 1000,
  };
}

/** Runs strategies on a cluster: all those that are wanted, under the readings after the first of the seed's alone. */
export function measureCluster(
  cluster: StudyCluster,
  settings: WorkflowStudySettings,
  place: number,
  isWanted: (name: string) => boolean = () => true,
): ClusterRuns {
  const reading = readings[place] as Reading;
  const count = cluster.capacities.length;
  const strategies = [
    ...listSeedStrategies(count, reading.overlaps),
    ...(place === 0 ? listOtherStrategies() : []),
  ].filter(({ name }) => isWanted(name));
  const draws = Array.from({ length: getDraws(settings, place) }, (_, draw) => drawOf(settings, reading, draw));
  return {
    cluster,
    runs: new Map(
      strategies.map((strategy) => [
        strategy.name,
        draws.map((arrivals) => measureRun(runStrategy(strategy, cluster, arrivals), arrivals, count)),
      ]),
    ),
  };
}

/** Runs of one strategy. */
export function listRuns({ runs }: ClusterRuns, name: string): readonly RunMeasures[] {
  const found = runs.get(name);
  if (found === undefined) throw new Error(`no runs of ${name}`);
  return found;
}

/** Makespans of one strategy, in seconds. */
export function listMakespans(cluster: ClusterRuns, name: string): number[] {
  return listRuns(cluster, name).map(({ makespan }) => makespan);
}

/** How much longer one strategy takes than another one, with the same jobs. */
export function getDifference(cluster: ClusterRuns, longer: string, shorter: string): Summary {
  const others = listMakespans(cluster, shorter);
  return summarize(listMakespans(cluster, longer).map((makespan, draw) => makespan - (others[draw] as number)));
}

/**
 * The seed's two figures of an algorithm: mean and standard deviation over the strategies that use it, of each draw.
 */
export function getSpread(
  cluster: ClusterRuns,
  algorithm: string,
): { readonly means: number[]; readonly deviations: number[] } {
  const names = [...cluster.runs.keys()].filter(
    (name) => name === algorithm || (name.startsWith(algorithm) && name.endsWith('P')),
  );
  const rows = listMakespans(cluster, names[0] as string).map((_, draw) =>
    names.map((name) => (listRuns(cluster, name)[draw] as RunMeasures).makespan),
  );
  const means = rows.map((row) => row.reduce((sum, value) => sum + value, 0) / row.length);
  const deviations = rows.map((row, draw) =>
    Math.sqrt(
      row.reduce((sum, value) => sum + (value - (means[draw] as number)) ** 2, 0) / Math.max(1, row.length - 1),
    ),
  );
  return { means, deviations };
}

/** All runs as CSV, one a line. */
export function workflowRunsCsv(all: readonly ReadingRuns[]): string {
  const lines = all.flatMap(({ reading, clusters }) =>
    clusters.flatMap(({ cluster, runs }) =>
      [...runs].flatMap(([strategy, measures]) =>
        measures.map(({ makespan, utilisation, wait }, draw) =>
          [
            reading.name,
            cluster.name,
            strategy,
            draw,
            makespan.toFixed(3),
            utilisation.toFixed(5),
            wait.toFixed(3),
          ].join(','),
        ),
      ),
    ),
  );
  return `${['reading,cluster,strategy,draw,makespan_s,utilisation,wait_s', ...lines].join('\n')}\n`;
}
