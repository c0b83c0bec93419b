import type { DependencyCondition, JobSpec } from '@mutirao/core/messages';
import type { Command } from 'commander';

import type { CommandContext } from '../../context.ts';
import { resolveJobIds } from '../../selectors.ts';

/** Options that name the jobs to wait for. */
export interface DependencyOptions {
  readonly after?: string;
  readonly afterOk?: string;
  readonly afterAny?: string;
  readonly afterFail?: string;
  readonly afterEach?: string;
}

const conditions: readonly (readonly [keyof DependencyOptions, string, DependencyCondition])[] = [
  ['after', '--after', 'started'],
  ['afterOk', '--after-ok', 'succeeded'],
  ['afterAny', '--after-any', 'ended'],
  ['afterFail', '--after-fail', 'failed'],
  ['afterEach', '--after-each', 'each'],
];

/** Adds the options. */
export function addDependencyOptions(command: Command): void {
  command
    .option('--after <jobs>', 'wait until these jobs have started or ended: 3, 3,5 or last')
    .option(
      '--after-ok <jobs>',
      'wait until all tasks of these jobs have finished; the job is cancelled if that becomes impossible',
    )
    .option('--after-any <jobs>', 'wait until these jobs have ended in any way')
    .option(
      '--after-fail <jobs>',
      'wait until these jobs have failed or were cancelled; the job is cancelled if they finish',
    )
    .option('--after-each <jobs>', 'each task waits until the task with the same index in these jobs has finished');
}

/** The given ones, as the user writes them. */
export function dependencyOptionsGiven(options: DependencyOptions): (readonly [string, unknown])[] {
  return conditions.map(([name, option]) => [option, options[name]]);
}

/** The jobs that the options name. @throws {MutiraoError} MUT_BAD_REQUEST, MUT_NOT_FOUND */
export async function readDependencies(
  context: CommandContext,
  options: DependencyOptions,
): Promise<Pick<JobSpec, 'after'>> {
  const given = conditions.filter(([name]) => options[name] !== undefined);
  if (given.length === 0) return {};
  const broker = await context.broker();
  const lists = await Promise.all(
    given.map(async ([name, , condition]) =>
      (await resolveJobIds(broker, options[name] ?? '')).map((jobId) => ({ jobId, condition })),
    ),
  );
  return { after: lists.flat() };
}
