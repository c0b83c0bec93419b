import { encodeJobSpec } from '@mutirao/api/codecs';
import { errorOfRefusal, MutiraoError } from '@mutirao/api/errors';
import { encodeReason, reasonDocument } from '@mutirao/api/reasons';
import {
  bLevels,
  explainPlacement,
  findCriticalPath,
  findTooWide,
  freshProblem,
  makeWorkflow,
  measureSchedule,
  measureShape,
  platformCosts,
  workflowSchedulers,
  type Platform,
  type PlatformProcessor,
} from '@mutirao/core/workflow';
import { schedulerNames } from '@mutirao/core/messages';
import { detectFormat, FormatError } from '@mutirao/formats';
import {
  convertWorkflow,
  getDraft,
  makeWorkflowJob,
  parseProcessorsConf,
  parseWorkflow,
  referenceSpeed,
  writtenFormats,
  type WorkflowDocument,
} from '@mutirao/formats/workflow';

import type {
  PlanPlatform,
  PlanSpec,
  Workflow,
  WorkflowCheck,
  WorkflowPlan,
  WorkflowSubmission,
} from '../../schema/index.ts';
import { getMachineId } from '../documents/machines.ts';
import { inFolder } from '../bag-spec.ts';
import { documentOfWorkflow, partAt, withoutPlaces, workflowOfDocument } from '../documents/workflows.ts';
import type { GatewayParts } from '../grid-calls.ts';
import type { Readings } from '../readings.ts';
import type { Handlers } from '../requests.ts';
import { submit } from '../submit.ts';

const readFormats = ['yaml', 'wfformat', 'dax', 'xml'];
const withoutCommandShown = 100;
const processorsMax = 4096;
/** Tasks times processors of a plan: some seconds of work, in which the gateway answers nobody else. */
const planSizeMax = 1_000_000;
const bandwidthUsual = 125_000_000;
const startUpUsual = 0.1;

/** Workflows as the editor has them: read, written, checked, planned, submitted. */
export function workflowHandlers(
  parts: GatewayParts,
  readings: Readings,
): Handlers<
  'getWorkflowChoices' | 'importWorkflow' | 'exportWorkflow' | 'checkWorkflow' | 'planWorkflow' | 'submitWorkflow'
> {
  return {
    getWorkflowChoices: () => ({
      algorithms: workflowSchedulers.map(({ name }) => name),
      read_formats: readFormats,
      written_formats: [...writtenFormats],
    }),
    importWorkflow: ({ body: { text, name } }) => {
      const document = parseWorkflow(text, name ?? 'the file');
      return {
        format: formatOf(text),
        workflow: workflowOfDocument(document),
        warnings: [...document.warnings],
        fault: getFault(document),
      };
    },
    exportWorkflow: ({ body }) => {
      const format = writtenFormats.find((known) => known === body.format);
      if (format === undefined)
        throw new MutiraoError(
          'MUT_BAD_REQUEST',
          `format is "${body.format.slice(0, 40)}"; expected one of ${writtenFormats.join(', ')}`,
        );
      const { text, losses } = withoutPlaces(() => convertWorkflow(documentOfWorkflow(body.workflow), format));
      return { format, text, losses: [...losses] };
    },
    checkWorkflow: ({ body }) => check(body.workflow),
    planWorkflow: async ({ body }) => plan(body, await listProcessors(body.platform, readings)),
    submitWorkflow: ({ body }) => submitWorkflow(parts, body),
  };
}

function formatOf(text: string): string {
  const format = detectFormat(text);
  if (format === 'json') return 'wfformat';
  return readFormats.includes(format) ? format : 'yaml';
}

/**
 * What keeps a workflow that was read from running, with its place. Of tasks that share a name nothing could be said,
 * so that a file with such ones is refused. @throws {FormatError} MUT_WORKFLOW_DUPLICATE_TASK
 */
function getFault(document: WorkflowDocument): string | null {
  if (document.tasks.length === 0) return null;
  try {
    getDraft(document);
    return null;
  } catch (error) {
    if (!(error instanceof FormatError) || error.code === 'MUT_WORKFLOW_DUPLICATE_TASK') throw error;
    return error.message;
  }
}

function check(workflow: Workflow): WorkflowCheck {
  const { tasks, edges } = workflow;
  const counts = {
    task_count: tasks.length,
    edge_count: edges.length,
    without_command: tasks
      .filter(({ command }) => command.trim() === '')
      .slice(0, withoutCommandShown)
      .map(({ id }) => id),
  };
  try {
    const graph = makeWorkflow(getDraft(documentOfWorkflow(workflow)));
    const costs = { times: tasks.map(({ work }) => work / referenceSpeed), transfers: edges.map(() => 0) };
    const { levels, widest } = measureShape(graph);
    const path = findCriticalPath(graph, costs);
    return {
      ...counts,
      fault: null,
      level_count: levels,
      widest_level: widest,
      b_level_s: bLevels(graph, costs),
      critical_path: path.tasks.map((task) => tasks[task]?.id ?? ''),
      critical_path_s: path.length,
    };
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return {
      ...counts,
      level_count: 0,
      widest_level: 0,
      b_level_s: [],
      critical_path: [],
      critical_path_s: 0,
      fault: {
        code: error.code,
        message: error.problem.found,
        ...(tasks.length === 0 ? { task: null, edge: null } : partAt(workflow, error.problem)),
      },
    };
  }
}

/**
 * The grid's machines are taken as equally fast: what they are worth for a task is known only once it has run there.
 */
async function listProcessors(platform: PlanPlatform, readings: Readings): Promise<readonly PlatformProcessor[]> {
  switch (platform.kind) {
    case 'list':
      return parseProcessorsConf(platform.text, 'the list of processors');
    case 'uniform':
      return Array.from({ length: platform.processors }, (_, index) => ({
        name: `p${index + 1}`,
        speed: platform.speed_mflops,
      }));
    case 'grid': {
      const { machines } = await readings.machines();
      const found = machines.flatMap((machine) => {
        const count = machine.facts?.processors ?? 0;
        return Array.from({ length: count }, (_, index) => ({
          name: count === 1 ? getMachineId(machine) : `${getMachineId(machine)} #${index + 1}`,
          speed: referenceSpeed,
        }));
      });
      if (found.length === 0)
        throw new MutiraoError('MUT_BAD_REQUEST', 'the grid has no machine now; expected another platform');
      return found.slice(0, processorsMax);
    }
  }
}

function plan(
  {
    workflow,
    algorithm,
    bandwidth_bytes_per_s: bandwidth = bandwidthUsual,
    start_up_ms: startUp = startUpUsual,
  }: PlanSpec,
  processors: readonly PlatformProcessor[],
): WorkflowPlan {
  const scheduler = workflowSchedulers.find(({ name }) => name === algorithm);
  if (scheduler === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `algorithm is "${algorithm.slice(0, 40)}"; expected one of ` +
        `${workflowSchedulers.map(({ name }) => name).join(', ')}`,
    );
  const size = workflow.tasks.length * processors.length;
  if (size > planSizeMax)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${workflow.tasks.length} tasks on ${processors.length} processors are too many to plan here; expected a ` +
        `product of ${planSizeMax} at most`,
    );
  const draft = withoutPlaces(() => getDraft(documentOfWorkflow(workflow)));
  const fault = findTooWide(draft, processors.length);
  if (fault !== undefined) throw errorOfRefusal(fault);
  const graph = makeWorkflow(draft);
  const platform: Platform = { processors, bandwidth, startUp };
  const costs = platformCosts(graph, platform);
  const schedule = scheduler.schedule(freshProblem(graph, costs, processors.length));
  const { makespan, bound, speedup, efficiency } = measureSchedule(graph, costs, processors.length, schedule);
  const nameProcessor = (index: number): string => processors[index]?.name ?? '';
  return {
    algorithm: schedule.scheduler,
    processors: processors.map(({ name }) => name),
    makespan_s: seconds(makespan),
    bound_s: seconds(bound),
    speedup,
    efficiency,
    placements: schedule.placements.map((placement) => ({
      task: graph.tasks[placement.task]?.id ?? '',
      processors: [...placement.processors],
      start_s: seconds(placement.start),
      end_s: seconds(placement.end),
      reason: reasonDocument(encodeReason(explainPlacement(graph, placement, nameProcessor))),
    })),
  };
}

function seconds(time: number): number {
  return Math.round(time) / 1000;
}

async function submitWorkflow(
  parts: GatewayParts,
  spec: WorkflowSubmission,
): Promise<{ job_id: number; task_count: number }> {
  const scheduler = schedulerNames.find((known) => known === (spec.scheduler ?? 'wqr'));
  if (scheduler === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `scheduler is "${(spec.scheduler ?? '').slice(0, 40)}"; expected one of ${schedulerNames.join(', ')}`,
    );
  const { job } = withoutPlaces(() =>
    makeWorkflowJob(documentOfWorkflow(spec.workflow), {
      directory: spec.directory ?? parts.directory,
      taskCommand: spec.task_command,
    }),
  );
  const label = spec.label ?? job.label;
  return submit(
    parts,
    encodeJobSpec({
      ...job,
      ...inFolder(spec, spec.directory ?? parts.directory),
      scheduler,
      label: label === '' ? 'workflow' : label,
    }),
    spec,
  );
}
