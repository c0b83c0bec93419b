import { resolve } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import { countRuns, isStartsChunk, listParts } from '@mutirao/sim/costa2005';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { tell } from '../../output/tell.ts';
import { ChunkRunner } from '../../simulation/study/run-study-chunk.ts';
import { checkLogs, getData, readSettings, type StudyOptions } from '../../simulation/study/study-options.ts';

/** What `sim study-chunk` takes. */
export interface StudyChunkOptions extends StudyOptions {
  readonly out: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<study>', 'costa2005')
    .argument('<part>', 'name of the part, as in the names of result files')
    .requiredOption('--out <file>', 'where its results go, as JSON lines')
    .option('--quick', 'the part of a quick study')
    .option('--seed <text>', 'that of the study', '1')
    .option('--data <folder>', 'holds the logs as swf/NAME.swf.gz (default: MUTIRAO_DATA)')
    .action((name: string, part: string, options: StudyChunkOptions) => act((context) => Promise.resolve(runPart(context, [name, part], options))));
}

/** Runs one part of a study in this process. */
export function runPart(context: CommandContext, [name, part]: readonly [string, string], options: StudyChunkOptions): ExitStatus {
  const settings = readSettings(name, options);
  const chunk = listParts(settings).find(({ id }) => id === part);
  if (chunk === undefined) throw new MutiraoError('MUT_BAD_REQUEST', `the part is "${part}"; want one of this study, such as ${listParts(settings)[0]?.id ?? ''}`);
  const data = getData(context, options);
  checkLogs(data, [chunk.trace.file]);
  const file = resolve(context.directory, options.out);
  writeAtomic(file, new ChunkRunner(data, settings.seed).run(chunk), 0o644);
  const runCount = isStartsChunk(chunk) ? 0 : countRuns(chunk);
  const document: JsonOf<typeof shapes.study_part> = { part, run_count: runCount, file };
  tell(context.output, { json: () => document, table: () => [`${isStartsChunk(chunk) ? 'comparison' : `${runCount} runs`} in ${file}`], quiet: () => [file] });
  return 0;
}
