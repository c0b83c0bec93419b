import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { FormatError } from '@mutirao/formats';

import type { Act } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { addAfterHelp } from '../help/lay-out-help.ts';
import { addParallelOptions, refuseUnknown, type ParallelOptions } from '../parallel/parallel-options.ts';

/** GNU parallel's status for a command line that cannot be run. */
const otherError = 255;

export function define(command: Command, act: Act): void {
  addParallelOptions(command);
  addAfterHelp(
    command,
    [],
    'Replacement strings: {} the argument, {.} without extension, {/} without folder, {//} its folder, {/.} both, ' +
      '{1} {2.} one of several, {#} number of the job, {%} number of its slot. The exit status is the number of failed ' +
      'jobs up to 100, 101 for more, and 255 for a command line that is refused.',
  );
  // Options of the command that is run belong to it.
  command.parent?.enablePositionalOptions();
  command
    .allowUnknownOption()
    .passThroughOptions(command.parent !== null)
    .usage('[options] COMMAND {} ::: ARGUMENTS\n       mutirao parallel [options] COMMAND {} < LINES')
    .argument('[words...]', 'a command, then ::: and arguments, :::: and files, :::+ and linked arguments')
    .action((words: readonly string[], options: ParallelOptions & { maxProcs?: string }) =>
      act(async (context) => {
        const given = [...words, ...(context.passedOn === undefined ? [] : rejoin(words, context.passedOn))];
        try {
          if (words.length > 0)
            refuseUnknown(
              words,
              command.options.map(({ long, flags }) => long ?? flags),
            );
          const { runParallel } = await import('../parallel/run-parallel.ts');
          // Statuses up to 101 count failed jobs, as those who come from GNU parallel expect.
          return (await runParallel(context, given, { ...options, ...jobsOf(options) })) as ExitStatus;
        } catch (error) {
          if (!(error instanceof MutiraoError || error instanceof FormatError)) throw error;
          context.output.note(`error: ${error.code} ${error.message}`);
          return otherError as ExitStatus;
        }
      }),
    );
}

/** The program took "--" out; within a command it is a word as any other. */
function rejoin(before: readonly string[], after: readonly string[]): readonly string[] {
  return before.length === 0 ? after : ['--', ...after];
}

function jobsOf({ jobs, maxProcs }: ParallelOptions & { maxProcs?: string }): Pick<ParallelOptions, 'jobs'> {
  const count = jobs ?? maxProcs;
  return count === undefined ? {} : { jobs: count };
}
