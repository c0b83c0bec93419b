import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import {
  estimateCost,
  countRuns,
  exportJdf,
  isStartsChunk,
  listChunks,
  listParts,
  listStarts,
  reportStudy,
  type AnyChunk,
  type ExportPlaces,
  type StudySettings,
} from '@mutirao/sim/costa2005';
import { aheadTraces } from '@mutirao/sim/ahead';
import { bucLogs } from '@mutirao/sim/buc2020';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { addAfterHelp } from '../../help/lay-out-help.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import { readWhole } from '../../simulation/numbers.ts';
import { runEager } from '../../simulation/study/run-eager.ts';
import { runChunks } from '../../simulation/study/chunk-pool.ts';
import {
  defineHeuristicsOptions,
  refuseHeuristicsOptions,
  type HeuristicsOptions,
} from '../../simulation/study/heuristics-options.ts';
import { ownCommand } from '../../simulation/study/own-command.ts';
import { StudyFolder } from '../../simulation/study/study-folder.ts';
import { checkLogs, getData, readSettings, readShortSettings } from '../../simulation/study/study-options.ts';
import { StudyProgress, type Work } from '../../simulation/study/study-progress.ts';

/** What `sim study` takes. */
export interface StudyRunOptions extends HeuristicsOptions {
  readonly out: string;
  readonly workers?: string;
  readonly experiments?: string;
  readonly maxTasks?: string;
  readonly exportJdf?: true;
  readonly command?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<study>', 'name of the study; see below')
    .requiredOption('--out <folder>', 'folder for the results; repeating the command continues there')
    .option('--quick', 'a short version of the study, with fewer runs')
    .option('--seed <text>', 'random seed; the same seed repeats the same runs', '1')
    .option(
      '--data <folder>',
      'folder with the logs as swf/NAME.swf.gz, and grid/ for that of DAS-2 (default: MUTIRAO_DATA)',
    )
    .option('--workers <count>', 'threads (default: one per processor)')
    .option(
      '--experiments <count>',
      'gonzalez2010: run only this many of the 10 experiments; add more later in the same folder',
    )
    .option('--max-tasks <count>', 'costa2005: skip job types with more tasks')
    .option('--export-jdf', 'run nothing, but write a job file with which a grid runs the parts')
    .option('--command <text>', 'with --export-jdf: how machines call mutirao (default: the path of this program)')
    .action((name: string, options: StudyRunOptions) => act((context) => runStudy(context, name, options)));
  defineHeuristicsOptions(command);
  addAfterHelp(command, [], `Studies:\n${studies.map(([name, about]) => `  ${name}: ${about}`).join('\n')}`);
}

/** The studies and what they are about. */
const studies: readonly (readonly [string, string])[] = [
  ['trust', 'voting and credibility against machines that return wrong results'],
  ['eager', 'replication and other schedulers on machines that come and go'],
  ['kunrath2008', 'utilisation and refusals of reservations'],
  ['moreira2009', 'workflows of many users on one cluster'],
  ['ahead', 'allocations requested ahead of reservations, on archived logs'],
  ['buc2020', 'a queue that favours users with good walltimes, on archived logs'],
  ['costa2005', 'request heuristics, on archived logs'],
  ['gonzalez2010', 'site selection among several clusters, on archived logs'],
  ['heuristics', 'every request heuristic against static and adaptive, on archived logs or a log of your own'],
];

/** Runs what is left of a study, then writes its report. */
export async function runStudy(context: CommandContext, name: string, options: StudyRunOptions): Promise<ExitStatus> {
  if (options.maxTasks !== undefined && name !== 'costa2005')
    throw new MutiraoError('MUT_BAD_REQUEST', `--max-tasks is for the study costa2005, not for ${name}`);
  if (name === 'heuristics') {
    if (options.experiments !== undefined)
      throw new MutiraoError('MUT_BAD_REQUEST', '--experiments is for the study gonzalez2010, not for heuristics');
    return (await import('../../simulation/study/run-heuristics.ts')).runHeuristicsStudy(context, options);
  }
  refuseHeuristicsOptions(name, options);
  if (name === 'trust') return (await import('../../simulation/study/run-trust.ts')).runTrust(context, options);
  if (name === 'gonzalez2010')
    return (await import('../../simulation/study/run-gonzalez2010.ts')).runGonzalez2010(context, options);
  const settings = readSettings(name, options);
  if (options.experiments !== undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `--experiments is for the study gonzalez2010, not for ${name}`);
  switch (name) {
    case 'eager':
      return runEager(context, settings, options);
    case 'kunrath2008':
      return (await import('../../simulation/study/run-kunrath2008.ts')).runKunrath2008(context, settings, options);
    case 'moreira2009':
      return (await import('../../simulation/study/run-moreira2009.ts')).runMoreira2009(context, settings, options);
    case 'ahead':
      return runLogged(context, settings, options);
    case 'buc2020':
      return runScores(context, settings, options);
    default:
      return runCosta2005(context, readShortSettings(options), options);
  }
}

/** costa2005's study, in parts that are kept. */
async function runCosta2005(
  context: CommandContext,
  settings: StudySettings,
  options: StudyRunOptions,
): Promise<ExitStatus> {
  const workerCount =
    options.workers === undefined
      ? availableParallelism()
      : readWhole('--workers', options.workers, { min: 1, max: 1024 });
  const data = getData(context, options);
  const folder = StudyFolder.open(resolve(context.directory, options.out), settings);
  if (options.exportJdf === true)
    return writeJobFile(context, folder, settings, { data, command: options.command ?? ownCommand });
  const chunks = listParts(settings);
  const missing = chunks.filter((chunk) => !folder.has(chunk));
  if (missing.length < chunks.length)
    context.output.note(`${chunks.length - missing.length} of ${chunks.length} parts are done already`);
  checkLogs(
    data,
    missing.map(({ trace }) => trace.file),
  );
  await runMissing(context, folder, missing, { data, seed: settings.seed, workerCount });
  if (context.signal.aborted) {
    context.output.note('interrupted; the same command continues it');
    return 4;
  }
  return finish(context, folder, settings);
}

async function runLogged(
  context: CommandContext,
  settings: StudySettings,
  options: StudyRunOptions,
): Promise<ExitStatus> {
  const data = getData(context, options);
  checkLogs(
    data,
    aheadTraces.map(({ file }) => file),
  );
  return (await import('../../simulation/study/run-ahead.ts')).runAhead(context, settings, { ...options, data });
}

async function runScores(
  context: CommandContext,
  settings: StudySettings,
  options: StudyRunOptions,
): Promise<ExitStatus> {
  const data = getData(
    context,
    options,
    bucLogs.map(({ file }) => basename(file, '.swf.gz')),
  );
  checkLogs(
    data,
    bucLogs.map(({ file }) => file),
  );
  return (await import('../../simulation/study/run-buc2020.ts')).runBuc2020(context, settings, { ...options, data });
}

function writeJobFile(
  { output }: CommandContext,
  folder: StudyFolder,
  settings: StudySettings,
  places: ExportPlaces,
): ExitStatus {
  const { path, text } = { path: join(folder.path, 'costa2005.jdf'), text: exportJdf(settings, places) };
  writeAtomic(path, text, 0o644);
  mkdirSync(join(folder.path, 'chunks'), { recursive: true });
  output.note(
    `run "mutirao job submit ${path}"; when the job has ended, the same command without --export-jdf writes the report`,
  );
  printResult(output, { json: () => getDocument(folder, settings, path), table: () => [path], quiet: () => [path] });
  return 0;
}

async function runMissing(
  { output, clock, signal }: CommandContext,
  folder: StudyFolder,
  missing: readonly AnyChunk[],
  how: { readonly data: string; readonly seed: string; readonly workerCount: number },
): Promise<void> {
  const progress = new StudyProgress(output, clock, workOf(missing));
  try {
    await runChunks(missing, {
      ...how,
      study: 'costa2005',
      groupOf: ({ trace }) => trace.id,
      signal,
      onResult: (chunk, text) => {
        folder.keep(chunk, text);
        progress.add(workOf([chunk]));
      },
    });
  } finally {
    progress.close();
  }
}

function finish({ output }: CommandContext, folder: StudyFolder, settings: StudySettings): ExitStatus {
  const parts = listChunks(settings).map((chunk) => ({ chunk, result: getResult(chunk, folder.find(chunk)) }));
  const comparisons = listStarts(settings).map((chunk) => ({
    chunk,
    result: getResult(chunk, folder.findStarts(chunk)),
  }));
  const report = folder.writeReport(reportStudy({ settings, parts, comparisons }, 'costa2005/'));
  printResult(output, {
    json: () => getDocument(folder, settings, report),
    table: () => [`${workOf(listParts(settings)).runs} runs; the report is ${report}`],
    quiet: () => [report],
  });
  return 0;
}

function getResult<T>({ id }: AnyChunk, result: T | undefined): T {
  if (result === undefined) throw new MutiraoError('MUT_INTERNAL', `part ${id} has no results`);
  return result;
}

function getDocument(folder: StudyFolder, settings: StudySettings, report: string): JsonOf<typeof shapes.study> {
  const chunks = listParts(settings);
  return {
    study: 'costa2005',
    quick: settings.isQuick,
    seed: settings.seed,
    directory: folder.path,
    report,
    part_count: chunks.length,
    run_count: workOf(chunks).runs,
  };
}

function workOf(chunks: readonly AnyChunk[]): Work {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    runs: sum(chunks.map((chunk) => (isStartsChunk(chunk) ? 0 : countRuns(chunk)))),
    cost: sum(chunks.map(estimateCost)),
  };
}
