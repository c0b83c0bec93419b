import { resolve } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { encodeReason, reasonDocument, sayReason } from '@mutirao/api/reasons';
import type { GetReason } from '@mutirao/core/reasons';
import {
  explainPlacement,
  findTooWide,
  freshProblem,
  makeWorkflow,
  measureSchedule,
  platformCosts,
  workflowSchedulers,
  type Platform,
  type Schedule,
  type ScheduleMeasures,
  type Workflow,
} from '@mutirao/core/workflow';
import { decodeText, FormatError, parseSize } from '@mutirao/formats';
import { getDraft, parseProcessorsConf, type WorkflowDocument } from '@mutirao/formats/workflow';
import { drawSchedule } from '@mutirao/sim';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { renderPairs } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { thousandths } from '../../output/units.ts';
import { writeNamed } from '../../output/write-named.ts';
import { readFraction, readWord, findSeconds } from '../../simulation/numbers.ts';
import { readPacked } from '../../simulation/read-file.ts';
import { readWorkflowFile } from '../../simulation/read-workflow.ts';

/** What `sim schedule` takes. */
export interface ScheduleOptions {
  readonly workflow: string;
  readonly platform: string;
  readonly algorithm: string;
  readonly bandwidth: string;
  readonly startUp: string;
  readonly svg?: string;
  readonly why?: true;
}

const names = workflowSchedulers.map(({ name }) => name);

export function define(command: Command, act: Act): void {
  command
    .requiredOption('--workflow <file>', 'a workflow file: YAML, WfFormat, DAX or job XML, may be gzipped')
    .requiredOption('--platform <file>', 'a list of processors, one per line: number, host, address, Mflop/s')
    .option('--algorithm <name>', `scheduling algorithm: ${names.join(', ')}`, 'auto')
    .option('--bandwidth <size>', 'bytes per second between two processors', '125MB')
    .option('--start-up <ms>', 'latency of a message, in milliseconds', '0.1')
    .option('--svg <file>', 'also draw the schedule, one row per processor')
    .option('--why', 'explain for each task where and when it runs')
    .action((options: ScheduleOptions) => act((context) => Promise.resolve(scheduleWorkflow(context, options))));
}

/** Plans a workflow on processors that a file lists. */
export function scheduleWorkflow(context: CommandContext, options: ScheduleOptions): ExitStatus {
  const algorithm = readWord('--algorithm', options.algorithm, names);
  const platform = readPlatform(context, options);
  const { document, workflow } = readWorkflow(context, options.workflow, platform.processors.length);
  const costs = platformCosts(workflow, platform);
  const scheduler = workflowSchedulers.find(({ name }) => name === algorithm);
  const schedule = scheduler?.schedule(freshProblem(workflow, costs, platform.processors.length)) as Schedule;
  const measures = measureSchedule(workflow, costs, platform.processors.length, schedule);
  if (options.svg !== undefined) writeMap(resolve(context.directory, options.svg), document, platform, schedule);
  printResult(context.output, {
    json: () => getDocument({ document, workflow, platform }, schedule, measures),
    table: () => [
      ...getTable(workflow, schedule, measures),
      ...(options.why === true ? listReasons(workflow, platform, schedule) : []),
    ],
    quiet: () => [String(findSeconds(measures.makespan))],
  });
  return 0;
}

function readPlatform(context: CommandContext, { platform, bandwidth, startUp }: ScheduleOptions): Platform {
  const bytes = parseSize(bandwidth);
  if (bytes === 0) throw new MutiraoError('MUT_BAD_REQUEST', '--bandwidth is 0; expected bytes per second');
  return {
    processors: parseProcessorsConf(readText(context, platform), platform),
    bandwidth: bytes,
    startUp: readFraction('--start-up', startUp, { min: 0, max: 3_600_000 }),
  };
}

function readWorkflow(
  context: CommandContext,
  file: string,
  processorCount: number,
): { readonly document: WorkflowDocument; readonly workflow: Workflow } {
  const document = readWorkflowFile(context, file);
  const draft = getDraft(document);
  const fault = findTooWide(draft, processorCount);
  if (fault === undefined) return { document, workflow: makeWorkflow(draft) };
  const place = document.tasks[fault.taskIndex ?? 0]?.place() ?? { line: 1, column: 1 };
  throw new FormatError({
    code: fault.code,
    subject: file,
    line: place.line,
    column: place.column,
    found: sayReason(fault.fault),
    expected: 'no more than that',
  });
}

/** @throws {MutiraoError} MUT_FILE_NOT_FOUND; MUT_BAD_REQUEST */
function readText({ directory }: CommandContext, file: string): string {
  return decodeText(readPacked(file, resolve(directory, file)), file);
}

function writeMap(path: string, document: WorkflowDocument, { processors }: Platform, schedule: Schedule): void {
  const svg = drawSchedule({
    title: `${document.name === '' ? document.subject : document.name}, ${schedule.scheduler}`,
    schedule,
    processors: processors.map(({ name }) => name),
    taskIds: document.tasks.map(({ id }) => id),
    groups: document.tasks.map(({ kind }) => kind),
    groupName: 'kind',
  });
  writeNamed(path, svg);
}

function getDocument(
  {
    document,
    workflow,
    platform,
  }: { readonly document: WorkflowDocument; readonly workflow: Workflow; readonly platform: Platform },
  schedule: Schedule,
  measures: ScheduleMeasures,
): JsonOf<typeof shapes.workflow_schedule> {
  return {
    workflow: document.name,
    algorithm: schedule.scheduler,
    task_count: workflow.tasks.length,
    edge_count: workflow.edges.length,
    processor_count: platform.processors.length,
    makespan_s: findSeconds(measures.makespan),
    bound_s: findSeconds(measures.bound),
    speedup: thousandths(measures.speedup),
    efficiency: thousandths(measures.efficiency),
    placements: schedule.placements.map((placement) => ({
      task: workflow.tasks[placement.task]?.id ?? '',
      processors: placement.processors.map((processor) => platform.processors[processor]?.name ?? ''),
      start_s: findSeconds(placement.start),
      end_s: findSeconds(placement.end),
      reason: reasonDocument(encodeReason(explain(workflow, platform, placement))),
    })),
  };
}

function getTable(
  { tasks, edges }: Workflow,
  { scheduler }: Schedule,
  { makespan, bound, speedup, efficiency }: ScheduleMeasures,
): string[] {
  return renderPairs([
    ['algorithm', scheduler],
    ['tasks', String(tasks.length)],
    ['edges', String(edges.length)],
    ['makespan', `${findSeconds(makespan)} s`],
    ['critical path at full speed', `${findSeconds(bound)} s`],
    ['speedup', speedup.toFixed(2)],
    ['efficiency', `${(100 * efficiency).toFixed(1)} %`],
  ]);
}

function listReasons(workflow: Workflow, platform: Platform, { placements }: Schedule): string[] {
  return placements
    .toSorted((one, other) => one.start - other.start || one.task - other.task)
    .map((placement) => sayReason(explain(workflow, platform, placement)));
}

function explain(
  workflow: Workflow,
  { processors }: Platform,
  placement: Schedule['placements'][number],
): GetReason<'task-scheduled'> {
  return explainPlacement(workflow, placement, (index) => processors[index]?.name ?? '');
}
