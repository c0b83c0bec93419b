import type { Command } from 'commander';

import { findCriticalPath, makeWorkflow, measureShape } from '@mutirao/core/workflow';
import { getDraft, referenceSpeed, type WorkflowDocument } from '@mutirao/formats/workflow';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { renderPairs } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { thousandths } from '../../output/units.ts';
import { readWorkflowFile } from '../../simulation/read-workflow.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<file>', 'a workflow file: YAML, WfFormat, DAX or job XML, may be gzipped')
    .action((file: string) => act((context) => Promise.resolve(show(context, file))));
}

/** Shows what is in a workflow file, or what is wrong with it. */
export function show(context: CommandContext, file: string): ExitStatus {
  const document = readWorkflowFile(context, file);
  const summary = summarize(document);
  printResult(context.output, {
    json: () => summary,
    table: () => getTable(summary),
    quiet: () => document.tasks.map(({ id }) => id),
  });
  return 0;
}

interface Summary extends JsonOf<typeof shapes.workflow_file> {
  readonly workflow: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly critical_path: readonly string[];
}

function summarize(document: WorkflowDocument): Summary {
  const { name, tasks, outputs = [], warnings } = document;
  const workflow = makeWorkflow(getDraft(document));
  const times = tasks.map(({ work }) => work / referenceSpeed);
  const path = findCriticalPath(workflow, { times, transfers: workflow.edges.map(() => 0) });
  const { levels, widest } = measureShape(workflow);
  const read = new Set(tasks.flatMap((task) => task.inputs.map((file) => file.name)));
  const made = new Set(tasks.flatMap((task) => task.outputs.map((file) => file.name)));
  return {
    workflow: name,
    task_count: tasks.length,
    edge_count: workflow.edges.length,
    level_count: levels,
    widest_level: widest,
    without_command_count: tasks.filter(({ command }) => command === '').length,
    inputs: [...read].filter((file) => !made.has(file)),
    outputs: [...made].filter((file) => !read.has(file) || outputs.includes(file)),
    run_time_s: thousandths(times.reduce((sum, time) => sum + time, 0)),
    critical_path_s: thousandths(path.length),
    critical_path: path.tasks.map((task) => tasks[task]?.id ?? ''),
    warnings: [...warnings],
  };
}

function getTable(summary: Summary): string[] {
  return renderPairs([
    ['workflow', summary.workflow],
    ['tasks', String(summary.task_count)],
    ['without a command', summary.without_command_count === 0 ? '' : String(summary.without_command_count)],
    ['edges', String(summary.edge_count)],
    ['levels', `${summary.level_count}, the widest has ${summary.widest_level}`],
    ['inputs', inBrief(summary.inputs)],
    ['outputs', inBrief(summary.outputs)],
    ['run time', `${summary.run_time_s} s`],
    ['critical path', `${summary.critical_path_s} s: ${inBrief(summary.critical_path)}`],
  ]);
}

/** Names, of many only the first. */
function inBrief(names: readonly string[], most = 8): string {
  return names.length <= most ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}
