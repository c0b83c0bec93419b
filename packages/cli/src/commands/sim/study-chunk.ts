import { basename, resolve } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import { countRuns, isStartsChunk, listParts } from '@mutirao/sim/costa2005';
import { listCases, listParts as listSiteSelectionParts } from '@mutirao/sim/gonzalez2010';
import { countRuns as countHeuristicRuns, listChunks } from '@mutirao/sim/heuristics';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import {
  defineHeuristicsOptions,
  readHeuristicsSettings,
  refuseHeuristicsOptions,
  type HeuristicsOptions,
} from '../../simulation/study/heuristics-options.ts';
import { HeuristicsPartRunner } from '../../simulation/study/heuristics-part-runner.ts';
import { SiteSelectionPartRunner } from '../../simulation/study/site-selection-part-runner.ts';
import { getLogs as getSiteSelectionLogs, readSiteSelectionSettings } from '../../simulation/study/run-gonzalez2010.ts';
import { ChunkRunner } from '../../simulation/study/run-study-chunk.ts';
import { checkLogs, getData, readSettings, readShortSettings } from '../../simulation/study/study-options.ts';

/** What `sim study-chunk` takes. */
export interface StudyChunkOptions extends HeuristicsOptions {
  readonly out: string;
  readonly experiments?: string;
  readonly maxTasks?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<study>', 'costa2005, gonzalez2010 or heuristics')
    .argument('<part>', 'name of the part, as in the names of the result files')
    .requiredOption('--out <file>', 'file for the results, in JSON lines')
    .option('--quick', 'a part of the quick study')
    .option('--experiments <count>', 'gonzalez2010: the value given to the study')
    .option('--max-tasks <count>', 'costa2005: the value given to the study')
    .option('--seed <text>', 'the seed of the study', '1')
    .option('--data <folder>', 'folder with the logs as swf/NAME.swf.gz (default: MUTIRAO_DATA)')
    .action((name: string, part: string, options: StudyChunkOptions) =>
      act((context) => Promise.resolve(runPart(context, [name, part], options))),
    );
  defineHeuristicsOptions(command);
}

/** Runs one part of a study in this process. */
export function runPart(
  context: CommandContext,
  [name, part]: readonly [string, string],
  options: StudyChunkOptions,
): ExitStatus {
  readSettings(name, options);
  if (name !== 'heuristics') refuseHeuristicsOptions(name, options);
  const run =
    name === 'heuristics'
      ? findHeuristicsChunk(context, part, options)
      : name === 'gonzalez2010'
        ? findSiteSelectionPart(part, options)
        : findChunk(name, part, options);
  const data = run.getLogs(context);
  const file = resolve(context.directory, options.out);
  writeAtomic(file, run.run(data), 0o644);
  const document: JsonOf<typeof shapes.study_part> = { part, run_count: run.runCount, file };
  printResult(context.output, {
    json: () => document,
    table: () => [`${run.runCount === 0 ? 'comparison' : `${run.runCount} runs`} in ${file}`],
    quiet: () => [file],
  });
  return 0;
}

/** A part of some study, ready to be run. */
interface RunnablePart {
  readonly runCount: number;
  /** The folder of the logs that it needs. @throws {MutiraoError} MUT_DATA_MISSING */
  getLogs(context: CommandContext): string;
  /** Runs it on the logs of a folder and returns the results as JSON lines. */
  run(data: string): string;
}

function findChunk(name: string, part: string, options: StudyChunkOptions): RunnablePart {
  readSettings(name, options);
  const settings = readShortSettings(options);
  const chunk = getPart(listParts(settings), part);
  const getLogs = (context: CommandContext): string => {
    const data = getData(context, options);
    checkLogs(data, [chunk.trace.file]);
    return data;
  };
  return {
    getLogs,
    runCount: isStartsChunk(chunk) ? 0 : countRuns(chunk),
    run: (data) => new ChunkRunner(data, settings.seed).run(chunk),
  };
}

function findSiteSelectionPart(part: string, options: StudyChunkOptions): RunnablePart {
  const settings = readSiteSelectionSettings(options);
  const found = getPart(listSiteSelectionParts(settings), part);
  const getLogs = (context: CommandContext): string => getSiteSelectionLogs(context, options, [found]);
  return {
    getLogs,
    runCount: listCases(found).length,
    run: (data) => new SiteSelectionPartRunner(data, settings.seed).run(found),
  };
}

function findHeuristicsChunk(context: CommandContext, part: string, options: StudyChunkOptions): RunnablePart {
  if (options.trace !== undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', '--trace is for the whole study; a part is of an archived log');
  const settings = readHeuristicsSettings(context, options);
  const chunk = getPart(listChunks(settings), part);
  const getLogs = (): string => {
    const data = getData(context, options, [basename(chunk.trace.file, '.swf.gz')]);
    checkLogs(data, [chunk.trace.file]);
    return data;
  };
  return {
    getLogs,
    runCount: countHeuristicRuns(chunk),
    run: (data) => new HeuristicsPartRunner(data, settings.seed).run(chunk),
  };
}

function getPart<P extends { readonly id: string }>(parts: readonly P[], part: string): P {
  const found = parts.find(({ id }) => id === part);
  if (found === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the part is "${part}"; expected one of this study, such as ${parts[0]?.id ?? ''}`,
    );
  return found;
}
