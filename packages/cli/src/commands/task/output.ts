import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';

import type { BrokerClient } from '@mutirao/runtime/clients';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { outputJson } from '../../json/documents.ts';
import { writeJson } from '../../output/output.ts';
import { followOutput, type Followed } from './follow-output.ts';
import { resolveJobId, resolveTaskIndexes } from '../../selectors.ts';

/** Which of the two streams to print. */
export interface TaskOutputOptions {
  readonly stdout?: true;
  readonly stderr?: true;
  readonly follow?: true;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<job>', 'a job number, or "last"')
    .argument('[tasks]', 'which tasks: 5, 0-10:2, last or all (default: all)', 'all')
    .option('--stdout', 'print only standard output')
    .option('--stderr', 'print only standard error, to standard output')
    .option(
      '-f, --follow',
      'print the output of one task as it is written, until the task ends; Ctrl-C stops only the printing',
    )
    .action((job: string, tasks: string, options: TaskOutputOptions) =>
      act((context) => printOutputs(context, { job, tasks }, options)),
    );
}

/**
 * Prints the bytes of the tasks' outputs, on a terminal without what would control it, in the order of their indexes; a
 * heading on standard error names each.
 */
export async function printOutputs(
  context: CommandContext,
  { job, tasks }: { job: string; tasks: string },
  options: TaskOutputOptions,
): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  const indexes = await resolveTaskIndexes(broker, jobId, tasks, 'listed');
  if (options.follow === true)
    return followOutput(context, broker, { jobId, taskIndex: getOne(indexes, tasks), streams: findStreams(options) });
  return printEnded(context, broker, { jobId, indexes }, options);
}

async function printEnded(
  { output }: CommandContext,
  broker: BrokerClient,
  { jobId, indexes }: { readonly jobId: number; readonly indexes: readonly number[] },
  options: TaskOutputOptions,
): Promise<ExitStatus> {
  const documents: unknown[] = [];
  for (const taskIndex of indexes) {
    const found = await broker.getTaskOutput({ jobId, taskIndex });
    if (output.mode === 'json') {
      documents.push(outputJson(jobId, taskIndex, found));
      continue;
    }
    if (indexes.length > 1 && output.mode === 'table') output.note(`==> task ${taskIndex}`);
    if (options.stderr !== true) output.writePrinted(found.standardOutput, 'output');
    if (options.stdout !== true) output.writePrinted(found.standardError, options.stderr === true ? 'output' : 'error');
    if (found.truncated)
      output.note(
        `task ${taskIndex} printed more than is kept; a line in its output says how many bytes are missing ` +
          '(raise --limit-output of the job to keep more)',
      );
  }
  if (output.mode === 'json') writeJson(output, documents);
  return 0;
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
function getOne(indexes: readonly number[], tasks: string): number {
  const [index, ...others] = indexes;
  if (index === undefined || others.length > 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--follow prints one task, and "${tasks}" names ${indexes.length}; name one, as in "mutirao task output last 0 --follow"`,
    );
  return index;
}

function findStreams({ stdout, stderr }: TaskOutputOptions): Followed['streams'] {
  if (stdout === stderr) return 'both';
  return stdout === true ? 'output' : 'error';
}
