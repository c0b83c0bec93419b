import { randomUUID } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import type { Command } from 'commander';

import { encodeJobSpec } from '@mutirao/api/codecs';
import type { JobSpec, TaskGroup } from '@mutirao/core/messages';
import { plural } from '@mutirao/core/shared';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveJobId } from '../../selectors.ts';
import { callPatiently, readJob, type SubmitOptions } from './hand-over.ts';
import { addAppendOptions } from './submit-options.ts';

interface AppendOptions extends SubmitOptions {
  readonly key?: string;
}

export function define(command: Command, act: Act): void {
  addAppendOptions(command);
  command
    .option('--key <text>', 'repeating a key appends nothing more, and reports the same tasks')
    .usage('[options] <job> [--array SELECTOR | --each-line FILE | --values A,B,C] -- COMMAND {}')
    .argument('<job>', 'the open job: a number, or "last"')
    .action((job: string, options: AppendOptions) => act((context) => appendTasks(context, job, options)));
}

/** Appends tasks to an open job. */
export async function appendTasks(
  context: CommandContext,
  selector: string,
  options: AppendOptions,
): Promise<ExitStatus> {
  const job = readJob(context, undefined, { ...options, open: false });
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, selector);
  const groups = encodeJobSpec({ ...job, groups: job.groups.map((group) => wholeGroup(job, group, options)) }).groups;
  const appendKey = options.key ?? randomUUID();
  const { firstTaskIndex, taskCount, warnings } = await callPatiently(context, () =>
    broker.appendTasks({ jobId, appendKey, groups }),
  );
  for (const { text } of warnings) context.output.note(`warning: ${text}`);
  printResult(context.output, {
    json: (): JsonOf<typeof shapes.appended_tasks> => ({
      job_id: jobId,
      first_task_index: firstTaskIndex,
      task_count: taskCount,
    }),
    table: () => [`${plural(taskCount, 'task')} appended to job ${jobId}, the first with number ${firstTaskIndex}.`],
    quiet: () => [firstTaskIndex],
  });
  return 0;
}

/** The job has its own processors, resources and home directory: a group names what differs. */
function wholeGroup(job: JobSpec, group: TaskGroup, { processors, cpus }: AppendOptions): TaskGroup {
  const width = processors === undefined && cpus === undefined ? {} : { processors: job.processors };
  const outputs = group.outputs.map((output) => ({
    ...output,
    localPath:
      output.localPath === '' || isAbsolute(output.localPath)
        ? output.localPath
        : join(job.homeDirectory, output.localPath),
  }));
  return { ...(job.resources === undefined ? {} : { resources: job.resources }), ...width, ...group, outputs };
}
