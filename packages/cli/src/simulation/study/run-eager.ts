import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import {
  compareAll,
  comparisonsCsv,
  listScenarios,
  recordsCsv,
  reportEager,
  runScenario,
  type EagerSettings,
  type PolicyRuns,
} from '@mutirao/sim/eager';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';

/** What of a study's options makes sense for this one. */
export interface EagerOptions {
  readonly out: string;
  readonly exportJdf?: true;
  readonly workers?: string;
  readonly data?: string;
}

/**
 * Runs the study of eager scheduling and writes its page, its figure and its CSV files. @throws {MutiraoError}
 * MUT_BAD_REQUEST for options of another study.
 */
export async function runEager(
  context: CommandContext,
  settings: EagerSettings,
  options: EagerOptions,
): Promise<ExitStatus> {
  const foreign = [
    ['--export-jdf', options.exportJdf],
    ['--workers', options.workers],
    ['--data', options.data],
  ].find(([, value]) => value !== undefined);
  if (foreign !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${String(foreign[0])} is for the study costa2005; eager runs in one thread, without logs`,
    );
  const directory = resolve(context.directory, options.out);
  const scenarios = listScenarios();
  const all: PolicyRuns[] = [];
  for (const [index, scenario] of scenarios.entries()) {
    // Ctrl-C is handled between scenarios.
    await new Promise((resume) => {
      setImmediate(resume);
    });
    if (context.signal.aborted) return 4;
    context.output.note(`scenario ${index + 1} of ${scenarios.length}: ${scenario.id}`);
    all.push(...runScenario(scenario, settings));
  }
  const report = write(directory, settings, all);
  const document = {
    study: 'eager',
    quick: settings.isQuick,
    seed: settings.seed,
    directory,
    report,
    part_count: scenarios.length,
    run_count: all.reduce((sum, { results }) => sum + results.length, 0),
  };
  printResult(context.output, {
    json: () => document,
    table: () => [`${document.run_count} runs; the report is ${report}`],
    quiet: () => [report],
  });
  return 0;
}

function write(directory: string, settings: EagerSettings, all: readonly PolicyRuns[]): string {
  mkdirSync(join(directory, 'images'), { recursive: true });
  const comparisons = compareAll(all);
  const { page, svg } = reportEager(settings, comparisons, 'images/eager-scheduling.svg');
  const report = join(directory, 'eager-scheduling.md');
  writeAtomic(join(directory, 'eager-runs.csv'), recordsCsv(all), 0o644);
  writeAtomic(join(directory, 'eager-scheduling.csv'), comparisonsCsv(comparisons), 0o644);
  writeAtomic(join(directory, 'images', 'eager-scheduling.svg'), svg, 0o644);
  writeAtomic(report, page, 0o644);
  return report;
}
