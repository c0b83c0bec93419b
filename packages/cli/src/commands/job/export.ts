import { Option, type Command } from 'commander';

import type { TaskRecord } from '@mutirao/api/broker';
import { readFields } from '@mutirao/core/bag';
import { jobLogHeader } from '@mutirao/formats/parallel';

import { csvHeader, csvLine, describeTask, jobLogLine, type ExportedTask } from '../../accounting/export-task.ts';
import { readGroups, readTasks } from '../../accounting/read-tasks.ts';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { type Output, writeJson } from '../../output/output.ts';
import { resolveJobId } from '../../selectors.ts';

/** How the tasks are written. */
export type ExportFormat = 'csv' | 'json' | 'joblog';

export function define(command: Command, act: Act): void {
  command
    .argument('[job]', 'a job number, or "last" (default: last)', 'last')
    .addOption(
      new Option(
        '--format <name>',
        'csv, json, or joblog, which has the columns of GNU parallel for tasks that have run (default: csv)',
      ).choices(['csv', 'json', 'joblog']),
    )
    .action((job: string, { format }: { readonly format?: ExportFormat }) =>
      act((context) => exportJob(context, job, format ?? (context.output.mode === 'json' ? 'json' : 'csv'))),
    );
}

/** Writes all tasks of a job with their times and what they used. */
export async function exportJob(context: CommandContext, job: string, format: ExportFormat): Promise<ExitStatus> {
  const { output } = context;
  const broker = await context.broker();
  const jobId = await resolveJobId(broker, job);
  const groups = await readGroups(broker, jobId);
  const documents: ExportedTask[] = [];
  let parameters: readonly string[] | undefined;
  if (format === 'joblog') output.write(`${jobLogHeader}\n`);
  for await (const tasks of readTasks(broker, jobId)) {
    if (format === 'joblog') {
      const lines = tasks.map((task) => jobLogLine(task, groups)).filter((line) => line !== undefined);
      output.writePrinted(Buffer.from(lines.map((line) => `${line}\n`).join('')), 'output');
      continue;
    }
    const described = tasks.map((task) => describeTask(task, groups));
    if (format === 'json') documents.push(...described);
    else {
      const head = parameters === undefined;
      parameters ??= listParameters(tasks);
      writeCsv(output, described, { parameters, head });
    }
  }
  if (format === 'json') writeJson(output, documents);
  return 0;
}

/** The names of a sweep of several parameters, as its first task has them. */
function listParameters([first]: readonly TaskRecord[]): readonly string[] {
  return Object.keys(readFields(first?.value ?? '') ?? {});
}

function writeCsv(
  output: Output,
  tasks: readonly ExportedTask[],
  { parameters, head }: { readonly parameters: readonly string[]; readonly head: boolean },
): void {
  const lines = [...(head ? [csvHeader(parameters)] : []), ...tasks.map((task) => csvLine(task, parameters))];
  output.writePrinted(Buffer.from(lines.map((line) => `${line}\n`).join('')), 'output');
}
