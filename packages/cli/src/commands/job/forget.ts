import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { plural } from '@mutirao/core/shared';
import { parseDuration } from '@mutirao/formats';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { parseMoment } from '../../local-time.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveJobIds } from '../../selectors.ts';
import { readInteger } from '../../usage/read-integer.ts';

/** Chooses the jobs to forget if none is named. */
interface ForgetOptions {
  readonly endedBefore?: string;
  readonly keep?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('[jobs]', 'ended jobs: 3, 3-7,9 or last')
    .option('--ended-before <time>', 'all jobs that ended before: 30d (ago), "2026-03-01" or 14:00')
    .option('--keep <count>', 'all ended jobs except this many of the newest')
    .action((jobs: string | undefined, options: ForgetOptions) => act((context) => forgetJobs(context, jobs, options)));
}

/** Forgets ended jobs with all their records. */
async function forgetJobs(
  context: CommandContext,
  jobs: string | undefined,
  options: ForgetOptions,
): Promise<ExitStatus> {
  const { endedBefore, keep } = options;
  if ((jobs === undefined) === (endedBefore === undefined && keep === undefined))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      'name the jobs to forget, as in "mutirao job forget 3-7", or use --ended-before 30d or --keep 100',
    );
  const now = context.clock.now();
  const endedBeforeUnixMs = endedBefore === undefined ? undefined : readAge(endedBefore, now);
  const keptCount = keep === undefined ? undefined : readInteger('--keep', keep, { min: 0, max: 1_000_000_000 });
  const broker = await context.broker();
  const jobIds = jobs === undefined ? [] : await resolveJobIds(broker, jobs);
  const forgotten: number[] = [];
  for (let hasMore = true; hasMore; ) {
    const answer = await broker.forgetJobs({ jobIds, endedBeforeUnixMs, keptCount });
    forgotten.push(...answer.jobIds);
    hasMore = answer.hasMore && !context.signal.aborted;
  }
  printResult(context.output, {
    json: (): JsonOf<typeof shapes.forgotten_jobs> => ({ job_ids: forgotten }),
    table: () => [
      forgotten.length === 0
        ? 'Nothing changed: no ended job is that old.'
        : `${plural(forgotten.length, 'job')} ${forgotten.length === 1 ? 'is' : 'are'} forgotten.`,
    ],
    quiet: () => forgotten,
  });
  return 0;
}

/** A duration counts back from now. */
function readAge(text: string, now: number): number {
  return /^[\d.]+ ?[a-z]+$/i.test(text) ? now - parseDuration(text) : parseMoment(text, now);
}
