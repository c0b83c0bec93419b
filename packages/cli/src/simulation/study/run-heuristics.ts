import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import {
  estimateCost,
  countRuns,
  decodeResult,
  exportHeuristicsJdf,
  listChunks,
  reportHeuristics,
  type HeuristicsChunk,
  type HeuristicsPart,
  type HeuristicsSettings,
} from '@mutirao/sim/heuristics';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import { readWhole } from '../numbers.ts';
import { runChunks } from './chunk-pool.ts';
import { readHeuristicsSettings, type HeuristicsOptions } from './heuristics-options.ts';
import { getProgram } from './heuristics-program.ts';
import { ownCommand } from './own-command.ts';
import { openStudyFolder } from './study-manifest.ts';
import { checkLogs, getData } from './study-options.ts';
import { StudyProgress, type Work } from './study-progress.ts';

/** What the command makes of the study. */
export interface HeuristicsRunOptions extends HeuristicsOptions {
  readonly out: string;
  readonly workers?: string;
  readonly exportJdf?: true;
  readonly command?: string;
}

/**
 * Runs what is left of the study of heuristics, in chunks that are kept, then writes its page. A folder with the same
 * seed and instants is gone on with.
 */
export async function runHeuristicsStudy(context: CommandContext, options: HeuristicsRunOptions): Promise<ExitStatus> {
  const settings = readHeuristicsSettings(context, options);
  const workerCount =
    options.workers === undefined
      ? availableParallelism()
      : readWhole('--workers', options.workers, { min: 1, max: 1024 });
  const data = listData(context, options, settings);
  const chunks = listChunks(settings);
  if (chunks.length === 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      'no part of the study has any of these policies, job types and limits; expected more of them',
    );
  const folder = resolve(context.directory, options.out);
  if (options.exportJdf === true && settings.traces.some(({ file }) => isAbsolute(file))) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      '--export-jdf is for the archived logs; run the study of a log of your own here',
    );
  }
  openStudyFolder(folder, { study: 'heuristics', version: 1, seed: settings.seed, instants: settings.instants });
  if (options.exportJdf === true)
    return writeJobFile(context, folder, settings, { data, command: options.command ?? ownCommand });
  const kept = new KeptResults(folder, settings);
  const missing = chunks.filter((chunk) => kept.find(chunk) === undefined);
  const foreign = missing.filter((chunk) => existsSync(getPath(folder, chunk)));
  if (foreign.length > 0)
    context.output.note(
      `${foreign.length} parts are incomplete or from another version of the program; running them again`,
    );
  if (missing.length < chunks.length)
    context.output.note(`${chunks.length - missing.length} of ${chunks.length} parts are done already`);
  checkLogs(
    data,
    missing.flatMap(({ trace: { file } }) => (isAbsolute(file) ? [] : [file])),
  );
  await runMissing(context, folder, missing, { data, seed: settings.seed, workerCount });
  if (context.signal.aborted) {
    context.output.note('interrupted; the same command continues it');
    return 4;
  }
  return finish(context, folder, { settings, kept });
}

/** The folder of the logs, which a log of one's own does not need. */
function listData(context: CommandContext, options: HeuristicsOptions, { traces }: HeuristicsSettings): string {
  return traces.every(({ file }) => isAbsolute(file)) ? context.directory : getData(context, options);
}

async function runMissing(
  { output, clock, signal }: CommandContext,
  folder: string,
  missing: readonly HeuristicsChunk[],
  how: { readonly data: string; readonly seed: string; readonly workerCount: number },
): Promise<void> {
  const progress = new StudyProgress(output, clock, workOf(missing));
  const setup = {
    ...how,
    study: 'heuristics',
    signal,
    groupOf: ({ trace, policy }: HeuristicsChunk) => `${trace.id} ${policy}`,
  } as const;
  try {
    // The pool takes what it was given last first.
    await runChunks(missing.toReversed(), {
      ...setup,
      onResult: (chunk, text) => {
        writeAtomic(getPath(folder, chunk), text, 0o644);
        progress.add(workOf([chunk]));
      },
    });
  } finally {
    progress.close();
  }
}

function finish(
  { output }: CommandContext,
  folder: string,
  { settings, kept }: { readonly settings: HeuristicsSettings; readonly kept: KeptResults },
): ExitStatus {
  const parts = listChunks(settings).map((chunk): HeuristicsPart => {
    const result = kept.find(chunk);
    if (result === undefined) throw new MutiraoError('MUT_INTERNAL', `part ${chunk.id} has no results`);
    return { chunk, result };
  });
  const { page, figures } = reportHeuristics(settings, parts, 'heuristics/');
  const report = join(folder, 'heuristics.md');
  for (const { name, svg } of figures) writeAtomic(join(folder, 'heuristics', name), svg, 0o644);
  writeAtomic(report, page, 0o644);
  printResult(output, {
    json: () => getDocument(folder, settings, report),
    table: () => [`${workOf(listChunks(settings)).runs} runs; the report is ${report}`],
    quiet: () => [report],
  });
  return 0;
}

function writeJobFile(
  { output }: CommandContext,
  folder: string,
  settings: HeuristicsSettings,
  places: { readonly data: string; readonly command: string },
): ExitStatus {
  const path = join(folder, 'heuristics.jdf');
  writeAtomic(path, exportHeuristicsJdf(settings, places), 0o644);
  mkdirSync(join(folder, 'chunks'), { recursive: true });
  output.note(
    `run "mutirao job submit ${path}"; when the job has ended, the same command without --export-jdf writes the report`,
  );
  printResult(output, { json: () => getDocument(folder, settings, path), table: () => [path], quiet: () => [path] });
  return 0;
}

function getDocument(directory: string, settings: HeuristicsSettings, report: string): JsonOf<typeof shapes.study> {
  const chunks = listChunks(settings);
  return {
    study: 'heuristics',
    quick: settings.isQuick,
    seed: settings.seed,
    directory,
    report,
    part_count: chunks.length,
    run_count: workOf(chunks).runs,
  };
}

/** Results in a study's folder that are whole and what this program would come to. */
class KeptResults {
  readonly #folder: string;
  readonly #seed: string;
  readonly #programs: ReadonlyMap<string, string>;

  constructor(folder: string, { seed, heuristics }: HeuristicsSettings) {
    this.#folder = folder;
    this.#seed = seed;
    this.#programs = new Map(heuristics.map((heuristic) => [heuristic, getProgram(heuristic)]));
  }

  find(chunk: HeuristicsChunk): ReturnType<typeof decodeResult> {
    const path = getPath(this.#folder, chunk);
    return existsSync(path)
      ? decodeResult(readFileSync(path, 'utf8'), chunk, {
          seed: this.#seed,
          program: this.#programs.get(chunk.heuristic) ?? '',
        })
      : undefined;
  }
}

function getPath(folder: string, { id }: HeuristicsChunk): string {
  return join(folder, 'chunks', `${id}.jsonl`);
}

function workOf(chunks: readonly HeuristicsChunk[]): Work {
  const sum = (measure: (chunk: HeuristicsChunk) => number): number =>
    chunks.reduce((total, chunk) => total + measure(chunk), 0);
  return { runs: sum(countRuns), cost: sum(estimateCost) };
}
