import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { countRuns, listChunks, reportStudy, type StudyChunk, type StudySettings } from '@mutirao/sim/costa2005';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { tell } from '../../output/tell.ts';
import { readWhole } from '../../simulation/numbers.ts';
import { runChunks } from '../../simulation/study/chunk-pool.ts';
import { StudyFolder } from '../../simulation/study/study-folder.ts';
import { findData, readSettings, type StudyOptions } from '../../simulation/study/study-options.ts';
import { StudyProgress } from '../../simulation/study/study-progress.ts';

/** What `sim study` takes. */
export interface StudyRunOptions extends StudyOptions {
  readonly out: string;
  readonly workers?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<study>', 'costa2005: the request heuristics on archived logs')
    .requiredOption('--out <folder>', 'where results are kept; a study that was interrupted goes on there')
    .option('--quick', 'homogeneous jobs of at most 10,000 tasks, at 20 instants')
    .option('--seed <text>', 'the same seed, the same runs', '1')
    .option('--data <folder>', 'holds the logs as swf/NAME.swf.gz (default: MUTIRAO_DATA)')
    .option('--workers <count>', 'threads (default: one per processor of this machine)')
    .action((name: string, options: StudyRunOptions) => act((context) => runStudy(context, name, options)));
}

/** Runs what is left of a study, then writes its report. */
export async function runStudy(context: CommandContext, name: string, options: StudyRunOptions): Promise<ExitStatus> {
  const settings = readSettings(name, options);
  const workerCount = options.workers === undefined ? availableParallelism() : readWhole('--workers', options.workers, { min: 1, max: 1024 });
  const data = findData(context, options);
  if (data === undefined) return 3;
  const folder = StudyFolder.open(resolve(context.directory, options.out), settings);
  const chunks = listChunks(settings);
  const missing = chunks.filter((chunk) => folder.find(chunk) === undefined);
  if (missing.length < chunks.length) context.output.note(`${chunks.length - missing.length} of ${chunks.length} parts are done already`);
  await runMissing(context, folder, missing, { data, seed: settings.seed, workerCount });
  if (context.signal.aborted) {
    context.output.note('interrupted; the same command goes on with it');
    return 4;
  }
  return finish(context, folder, chunks, settings);
}

async function runMissing(
  { output, clock, signal }: CommandContext, folder: StudyFolder, missing: readonly StudyChunk[],
  how: { readonly data: string; readonly seed: string; readonly workerCount: number },
): Promise<void> {
  const progress = new StudyProgress(output, clock, missing.reduce((total, chunk) => total + countRuns(chunk), 0));
  try {
    await runChunks(missing, { ...how, signal, onResult: (chunk, text) => {
      folder.keep(chunk, text);
      progress.add(countRuns(chunk));
    } });
  } finally {
    progress.close();
  }
}

function finish({ output }: CommandContext, folder: StudyFolder, chunks: readonly StudyChunk[], { isQuick, seed }: StudySettings): ExitStatus {
  const parts = chunks.map((chunk) => {
    const result = folder.find(chunk);
    if (result === undefined) throw new MutiraoError('MUT_INTERNAL', `part ${chunk.id} has no results`);
    return { chunk, result };
  });
  const report = folder.writeReport(reportStudy({ isQuick, seed }, parts, 'costa2005/'));
  const runCount = chunks.reduce((total, chunk) => total + countRuns(chunk), 0);
  const document: JsonOf<typeof shapes.study> = { study: 'costa2005', quick: isQuick, seed, directory: folder.path, report, part_count: chunks.length, run_count: runCount };
  tell(output, {
    json: () => document,
    table: () => [`${runCount} runs; the report is ${report}`],
    quiet: () => [report],
  });
  return 0;
}
