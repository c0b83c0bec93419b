import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '@mutirao/runtime/files';
import { studyTrust } from '@mutirao/sim/trust';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';

/** What of a study's options makes sense for this one. */
export interface TrustOptions {
  readonly out: string;
  readonly seed: string;
  readonly quick?: true;
  readonly exportJdf?: true;
  readonly workers?: string;
  readonly data?: string;
}

const [quickSize, wholeSize] = [
  { bagCount: 3, taskCount: 1000 },
  { bagCount: 5, taskCount: 3000 },
];

/**
 * Runs the study of voting and credibility, and writes its tables and its picture. @throws {MutiraoError}
 * MUT_BAD_REQUEST for options of another study.
 */
export async function runTrust(context: CommandContext, options: TrustOptions): Promise<ExitStatus> {
  const foreign = [
    ['--export-jdf', options.exportJdf],
    ['--workers', options.workers],
    ['--data', options.data],
  ].find(([, value]) => value !== undefined);
  if (foreign !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${String(foreign[0])} is for the study costa2005; trust runs in one thread, without logs`,
    );
  const directory = resolve(context.directory, options.out);
  const isQuick = options.quick === true;
  const { markdown, svg, runCount, partCount } = studyTrust({
    ...(isQuick ? quickSize : wholeSize),
    seed: options.seed,
  });
  mkdirSync(directory, { recursive: true });
  const report = join(directory, 'trust.md');
  writeAtomic(join(directory, 'trust.svg'), svg, 0o644);
  writeAtomic(report, markdown, 0o644);
  printResult(context.output, {
    json: () => ({
      study: 'trust',
      quick: isQuick,
      seed: options.seed,
      directory,
      report,
      part_count: partCount,
      run_count: runCount,
    }),
    table: () => [`${runCount} bags; the report is ${report}`],
    quiet: () => [report],
  });
  return await Promise.resolve(0);
}
