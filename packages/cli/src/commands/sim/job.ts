import { resolve } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import {
  findHeuristic,
  heuristicDefaults,
  heuristicChoices,
  type HeuristicOptions,
  type RequestHeuristic,
} from '@mutirao/core/requests';
import {
  LocalHistory,
  longestTaskTime,
  sampleJob,
  scaleSubmissions,
  summarize,
  type Heterogeneity,
  type JobSample,
  type JobScenario,
  type Summary,
} from '@mutirao/sim';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration } from '../../output/units.ts';
import { readFraction, readTime, readWhole, readWord, findSeconds } from '../../simulation/numbers.ts';
import { findPolicy } from '../../simulation/policies.ts';
import { describeTrace, processorsMax, readTrace, traceJson, type TraceFile } from '../../simulation/read-trace.ts';
import { sampleRuns } from '../../simulation/sample-runs.ts';

/** What `sim job` takes. */
export interface JobSimulationOptions {
  readonly trace: string;
  readonly procs?: string;
  readonly policy: string;
  readonly variant?: string;
  readonly loadFactor: string;
  readonly heuristic: string;
  readonly tasks: string;
  readonly mean: string;
  readonly heterogeneity: string;
  readonly maxRequests: string;
  readonly maxProcs?: string;
  readonly maxTime: string;
  readonly runs: string;
  readonly seed: string;
  readonly defaultTime?: string;
  readonly holes: string;
  readonly holeWalltime: string;
  readonly staticWidth: string;
  readonly exchange: string;
  readonly releaseIdle?: true;
  readonly events?: true;
}

export function define(command: Command, act: Act): void {
  command
    .optionsGroup('The machine and its users:')
    .requiredOption(
      '--trace <file>',
      'requests of the local users: a log in the Standard Workload Format (SWF), may be gzipped',
    )
    .option('--procs <count>', 'processors of the machine (default: as the log says)')
    .option('--policy <name>', 'queue policy: fcfs, easy or conservative', 'conservative')
    .option(
      '--variant <name>',
      'conservative backfilling after an early end: start-now or reinsert (default: start-now)',
    )
    .option('--load-factor <number>', 'multiply submission times; below 1 means more load', '1')
    .requiredOption('--heuristic <name>', `request heuristic: ${heuristicChoices.join(', ')}`)
    .optionsGroup('The job:')
    .requiredOption('--tasks <count>', 'tasks of the job')
    .requiredOption('--mean <time>', 'mean run time of a task: seconds, or for example 1h30m')
    .option(
      '--heterogeneity <1|2|4>',
      'task times: 1 = constant, 2 = uniform in mean/2..3*mean/2, 4 = uniform in mean/4..7*mean/4',
      '1',
    )
    .option('--max-requests <count>', 'requests of the job at one time (maxPR)', '1')
    .option('--max-procs <count>', 'processors of one request (maxP) (default: the whole machine)')
    .option('--max-time <time>', 'walltime of one request (maxT_r): seconds, or for example 18h', '18h')
    .optionsGroup('Runs:')
    .option('--runs <count>', 'number of runs, each at a random instant of the log', '50')
    .option('--seed <text>', 'random seed; the same seed repeats the same runs', '1')
    .option('--default-time <time>', 'assumed task time before any has finished (DEFAULT_TIME) (default: 600 s)')
    .option(
      '--holes <name>',
      'order in which holes of the queue are tried: in-order, best-first or maximal',
      heuristicDefaults.holes,
    )
    .option(
      '--hole-walltime <name>',
      'walltime of a request in a hole: whole-tasks or whole-hole',
      heuristicDefaults.holeWalltime,
    )
    .option(
      '--static-width <name>',
      'width chosen by the heuristic static: share or largest',
      heuristicDefaults.staticWidth,
    )
    .option(
      '--exchange <name>',
      'which chosen request a better one replaces: best or first',
      heuristicDefaults.exchange,
    )
    .option(
      '--release-idle',
      'release a request when it has no task left (default: hold it until the job or the walltime ends)',
    )
    .option('--events', 'print each event on standard error')
    .action((options: JobSimulationOptions) => act((context) => simulateJob(context, options)));
}

/** Runs a kind of grid job at random instants of a log. */
export async function simulateJob(context: CommandContext, options: JobSimulationOptions): Promise<ExitStatus> {
  const policy = findPolicy(options.policy, options.variant);
  const processors =
    options.procs === undefined ? undefined : readWhole('--procs', options.procs, { min: 1, max: processorsMax });
  const factor = readFraction('--load-factor', options.loadFactor, { min: 0.001, max: 1000 });
  const runs = readWhole('--runs', options.runs, { min: 1, max: 1_000_000 });
  const scenario = readScenario(options);
  const read = readTrace({ file: options.trace, path: resolve(context.directory, options.trace), processors });
  context.output.note(describeTrace(read));
  const history = new LocalHistory({
    policy,
    processors: read.processors,
    trace: scaleSubmissions(read.requests, factor),
  });
  const trace =
    options.events === true
      ? (line: string) => {
          context.output.note(line);
        }
      : undefined;
  const samples = await sampleRuns(context, runs, (run) =>
    sampleJob(history, scenario, { seed: options.seed, run }, trace),
  );
  if (samples === undefined) return 4;
  printResult(context.output, {
    json: () => getDocument({ read, policy: policy.name, factor, options }, samples),
    table: () => getTable(samples),
    quiet: () => samples.map(({ turnaround }) => String(findSeconds(turnaround))),
  });
  return 0;
}

function readScenario(options: JobSimulationOptions): JobScenario {
  const heterogeneity = Number(readWord('--heterogeneity', options.heterogeneity, ['1', '2', '4'])) as Heterogeneity;
  const scenario: JobScenario = {
    heuristic: readHeuristic(options.heuristic),
    heterogeneity,
    taskCount: readWhole('--tasks', options.tasks, { min: 1, max: 10_000_000 }),
    meanTaskTime: readTime('--mean', options.mean),
    requestsMax: readWhole('--max-requests', options.maxRequests, { min: 1, max: 1000 }),
    widthMax:
      options.maxProcs === undefined
        ? Infinity
        : readWhole('--max-procs', options.maxProcs, { min: 1, max: processorsMax }),
    walltimeMax: readTime('--max-time', options.maxTime),
    options: readHeuristicOptions(options),
    releasesIdle: options.releaseIdle === true,
  };
  const longest = longestTaskTime(scenario);
  if (longest <= scenario.walltimeMax) return scenario;
  throw new MutiraoError(
    'MUT_BAD_REQUEST',
    `tasks last up to ${findSeconds(longest)} s and no request lasts longer than ` +
      `${findSeconds(scenario.walltimeMax)} s; expected a longer --max-time`,
  );
}

function readHeuristic(name: string): RequestHeuristic {
  const heuristic = findHeuristic(name);
  if (heuristic === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--heuristic is "${name}"; expected one of ${heuristicChoices.join(', ')}`,
    );
  return heuristic;
}

function readHeuristicOptions(options: JobSimulationOptions): HeuristicOptions {
  return {
    defaultTime:
      options.defaultTime === undefined
        ? heuristicDefaults.defaultTime
        : readTime('--default-time', options.defaultTime),
    holes: readWord('--holes', options.holes, ['in-order', 'best-first', 'maximal']),
    holeWalltime: readWord('--hole-walltime', options.holeWalltime, ['whole-tasks', 'whole-hole']),
    staticWidth: readWord('--static-width', options.staticWidth, ['share', 'largest']),
    exchange: readWord('--exchange', options.exchange, ['best', 'first']),
  };
}

interface Setting {
  readonly read: TraceFile;
  readonly policy: string;
  readonly factor: number;
  readonly options: JobSimulationOptions;
}

function getDocument(
  { read, policy, factor, options }: Setting,
  samples: readonly JobSample[],
): JsonOf<typeof shapes.job_simulation> {
  return {
    trace: traceJson(read),
    policy,
    load_factor: factor,
    heuristic: options.heuristic,
    seed: options.seed,
    runs: samples.map((sample, run) => ({
      run,
      instant_s: findSeconds(sample.instant),
      turnaround_s: findSeconds(sample.turnaround),
      waste_processor_s: findSeconds(sample.waste),
      task_processor_s: findSeconds(sample.taskTime),
      requests_made: sample.requestCount,
      ends_after_log: sample.endsAfterLog,
    })),
    turnaround_s: summaryJson(summarize(samples.map(({ turnaround }) => turnaround / 1000))),
    waste_processor_s: summaryJson(summarize(samples.map(({ waste }) => waste / 1000))),
    requests_made: summaryJson(summarize(samples.map(({ requestCount }) => requestCount))),
    ended_after_log_count: samples.filter(({ endsAfterLog }) => endsAfterLog).length,
  };
}

function summaryJson({ mean, halfInterval }: Summary): unknown {
  return { mean, half_interval_95: Number.isFinite(halfInterval) ? halfInterval : null };
}

function getTable(samples: readonly JobSample[]): string[] {
  const row = (name: string, values: readonly number[], show: (value: number) => string): string[] => {
    const { mean, halfInterval } = summarize(values);
    return [
      name,
      show(mean),
      Number.isFinite(halfInterval) ? show(halfInterval) : '-',
      show(Math.min(...values)),
      show(Math.max(...values)),
    ];
  };
  const late = samples.filter(({ endsAfterLog }) => endsAfterLog).length;
  return [
    ...renderTable(
      [
        { title: `${samples.length} RUNS` },
        ...['MEAN', '95% +-', 'LEAST', 'MOST'].map((title) => ({ title, right: true })),
      ],
      [
        row(
          'turnaround',
          samples.map(({ turnaround }) => turnaround),
          showDuration,
        ),
        row(
          'waste (processor time)',
          samples.map(({ waste }) => waste),
          showDuration,
        ),
        row(
          'requests made',
          samples.map(({ requestCount }) => requestCount),
          (value) => value.toFixed(1),
        ),
      ],
    ),
    ...(late === 0 ? [] : [`${late} of them ended after the last local request.`]),
  ];
}
