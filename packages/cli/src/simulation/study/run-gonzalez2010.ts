import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import {
  costOfPart,
  decodePart,
  exportSiteSelectionJdf,
  listCases,
  listParts,
  mixes,
  siteSelectionRunsCsv,
  reportPlacement,
  type MeasuredPart,
  type SiteSelectionPart,
  type SiteSelectionStudySettings,
} from '@mutirao/sim/gonzalez2010';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import { readWhole } from '../numbers.ts';
import { runChunks } from './chunk-pool.ts';
import { ownCommand } from './own-command.ts';
import { openStudyFolder } from './study-manifest.ts';
import { checkLogs, getData, readSettings, type StudyOptions } from './study-options.ts';
import { StudyProgress, type Work } from './study-progress.ts';

/** What of a study's options makes sense for this one. */
export interface SiteSelectionStudyOptions extends StudyOptions {
  readonly out: string;
  readonly workers?: string;
  readonly experiments?: string;
  readonly exportJdf?: true;
  readonly command?: string;
}

/** Reads which part to run. @throws {MutiraoError} MUT_BAD_REQUEST */
export function readSiteSelectionSettings(
  options: Pick<SiteSelectionStudyOptions, 'quick' | 'seed' | 'experiments'>,
): SiteSelectionStudySettings {
  const max = mixes.logs.experimentCount;
  if (options.quick === true && options.experiments !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--quick is of one experiment and --experiments is ${options.experiments}; expected one of both`,
    );
  return {
    ...readSettings('gonzalez2010', options),
    experiments:
      options.experiments === undefined ? max : readWhole('--experiments', options.experiments, { min: 1, max }),
  };
}

/**
 * Runs what is left of the study of site selection, in parts that are kept, then writes its page. A folder that holds fewer
 * experiments is gone on with.
 */
export async function runGonzalez2010(
  context: CommandContext,
  options: SiteSelectionStudyOptions,
): Promise<ExitStatus> {
  const settings = readSiteSelectionSettings(options);
  const workerCount =
    options.workers === undefined
      ? availableParallelism()
      : readWhole('--workers', options.workers, { min: 1, max: 1024 });
  const folder = resolve(context.directory, options.out);
  openStudyFolder(folder, { study: 'gonzalez2010', version: 1, quick: settings.isQuick, seed: settings.seed });
  const parts = listParts(settings);
  if (options.exportJdf === true) {
    return writeJobFile(context, folder, settings, {
      data: getLogs(context, options, parts),
      command: options.command ?? ownCommand,
    });
  }
  const missing = parts.filter((part) => read(folder, part, settings.seed) === undefined);
  if (missing.length < parts.length)
    context.output.note(`${parts.length - missing.length} of ${parts.length} parts are done already`);
  // What a grid has run needs no logs any more.
  if (missing.length > 0)
    await runMissing(context, folder, missing, {
      data: getLogs(context, options, missing),
      seed: settings.seed,
      workerCount,
    });
  if (context.signal.aborted) {
    context.output.note('interrupted; the same command continues it');
    return 4;
  }
  return finish(context, folder, settings);
}

/** The folder of the logs that parts need, which are all there. @throws {MutiraoError} MUT_DATA_MISSING */
export function getLogs(context: CommandContext, options: StudyOptions, parts: readonly SiteSelectionPart[]): string {
  const files = [...new Set(parts.flatMap(({ mix }) => mix.files))];
  const data = getData(
    context,
    options,
    files.map((file) => basename(file, '.swf.gz')),
  );
  checkLogs(data, files);
  return data;
}

async function runMissing(
  { output, clock, signal }: CommandContext,
  folder: string,
  missing: readonly SiteSelectionPart[],
  how: { readonly data: string; readonly seed: string; readonly workerCount: number },
): Promise<void> {
  const progress = new StudyProgress(output, clock, workOf(missing));
  // The pool takes what it was given last first.
  const setup = { ...how, study: 'gonzalez2010', signal, groupOf: ({ mix }: SiteSelectionPart) => mix.id } as const;
  try {
    await runChunks(missing.toReversed(), {
      ...setup,
      onResult: (part, text) => {
        writeAtomic(getPath(folder, part), text, 0o644);
        progress.add(workOf([part]));
      },
    });
  } finally {
    progress.close();
  }
}

function finish({ output }: CommandContext, folder: string, settings: SiteSelectionStudySettings): ExitStatus {
  const parts = listParts(settings).map((part): MeasuredPart => {
    const result = read(folder, part, settings.seed);
    if (result === undefined) throw new MutiraoError('MUT_INTERNAL', `part ${part.id} has no results`);
    return { part, result };
  });
  const { page, factorsSvg, boundSvg } = reportPlacement(settings, parts, 'gonzalez2010');
  const report = join(folder, 'gonzalez2010.md');
  writeAtomic(join(folder, 'gonzalez2010-runs.csv'), siteSelectionRunsCsv(parts), 0o644);
  writeAtomic(join(folder, 'gonzalez2010', 'factors.svg'), factorsSvg, 0o644);
  writeAtomic(join(folder, 'gonzalez2010', 'bound.svg'), boundSvg, 0o644);
  writeAtomic(report, page, 0o644);
  printResult(output, {
    json: () => getDocument(folder, settings, report),
    table: () => [`${workOf(listParts(settings)).runs} runs; the report is ${report}`],
    quiet: () => [report],
  });
  return 0;
}

function writeJobFile(
  { output }: CommandContext,
  folder: string,
  settings: SiteSelectionStudySettings,
  places: { readonly data: string; readonly command: string },
): ExitStatus {
  const path = join(folder, 'gonzalez2010.jdf');
  writeAtomic(path, exportSiteSelectionJdf(settings, places), 0o644);
  mkdirSync(join(folder, 'parts'), { recursive: true });
  output.note(
    `run "mutirao job submit ${path}"; when the job has ended, the same command without --export-jdf writes the report`,
  );
  printResult(output, { json: () => getDocument(folder, settings, path), table: () => [path], quiet: () => [path] });
  return 0;
}

function getDocument(
  directory: string,
  settings: SiteSelectionStudySettings,
  report: string,
): JsonOf<typeof shapes.study> {
  const parts = listParts(settings);
  return {
    study: 'gonzalez2010',
    quick: settings.isQuick,
    seed: settings.seed,
    directory,
    report,
    part_count: parts.length,
    run_count: workOf(parts).runs,
  };
}

function read(folder: string, part: SiteSelectionPart, seed: string): ReturnType<typeof decodePart> {
  const path = getPath(folder, part);
  return existsSync(path) ? decodePart(readFileSync(path, 'utf8'), part, seed) : undefined;
}

function getPath(folder: string, { id }: SiteSelectionPart): string {
  return join(folder, 'parts', `${id}.jsonl`);
}

function workOf(parts: readonly SiteSelectionPart[]): Work {
  return {
    runs: parts.reduce((sum, part) => sum + listCases(part).length, 0),
    cost: parts.reduce((sum, part) => sum + costOfPart(part), 0),
  };
}
