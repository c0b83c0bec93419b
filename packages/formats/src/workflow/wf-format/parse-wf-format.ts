import { plural } from '@mutirao/core/shared';
import { readJson, type LocatedValue } from '../located-value.ts';
import {
  distinctEdges,
  referenceSpeed,
  type DocumentTask,
  type WorkflowDocument,
  type WorkflowFile,
} from '../workflow-document.ts';
import { checkWfFormat } from './check-wf-format.ts';
import { readEarlyTasks } from './early-tasks.ts';
import { getArgumentStyle, getCommandLine } from './wf-command.ts';
import { wfFormatVersions } from './wf-parts.ts';
import {
  amountOr,
  distinctFiles,
  getEdges,
  makeFile,
  findMemory,
  textOr,
  getWidths,
  type WfTasks,
} from './wf-values.ts';

/**
 * Reads a workflow of WfCommons (WfFormat 1.0 to 1.6): its specification, and run times, commands, processors and
 * memory from its execution if it has one.
 *
 * @throws {FormatError} MUT_WORKFLOW_VERSION for another version; MUT_WORKFLOW_UNKNOWN for a field that the reader does
 * not know; MUT_WORKFLOW_NO_PRODUCER for an input that is not a file of the specification; MUT_WORKFLOW_WIDTH;
 * MUT_WORKFLOW_COST; MUT_WORKFLOW_SYNTAX
 */
export function parseWfFormat(text: string, subject: string): WorkflowDocument {
  const root = readJson(text, subject);
  const version = root.at('schemaVersion');
  const isNumber = typeof version.value === 'number';
  if (!wfFormatVersions.some((known) => known === version.value || (isNumber && Number(known) === version.value)))
    throw version.fault(`a version of WfFormat that is read: ${wfFormatVersions.join(', ')}`, 'MUT_WORKFLOW_VERSION');
  const unused = checkWfFormat(root, subject);
  const system = textOr(root.at('runtimeSystem').at('name'), textOr(root.at('wms').at('name'), ''));
  const workflow = root.at('workflow');
  const style = getArgumentStyle(system);
  const { tasks, edges } = isEarly(workflow) ? readEarlyTasks(workflow, style) : readTasks(workflow, style);
  const moved = new Map(
    tasks
      .flatMap(({ inputs, outputs }) => [...inputs, ...outputs])
      .flatMap(({ name, home }) => (home === undefined ? [] : [[name, home] as const])),
  );
  return {
    name: textOr(root.at('name'), ''),
    subject,
    tasks,
    edges: distinctEdges(edges),
    hasManyWriters: true,
    warnings: [
      ...describeMoved(moved),
      ...(style === 'line' ? [`arguments are lines for the shell, since ${system} wrote them`] : []),
      ...unused,
    ],
  };
}

/**
 * Whether tasks have their files and runs within, as up to version 1.4. What the file holds counts: tools raised the
 * version before they changed the rest.
 *
 * @throws {FormatError} MUT_WORKFLOW_SYNTAX for a workflow with both or neither.
 */
function isEarly(workflow: LocatedValue): boolean {
  const early = ['tasks', 'jobs'].find((name) => workflow.at(name).value !== undefined);
  const isLate = workflow.at('specification').value !== undefined;
  if (early !== undefined && isLate)
    throw workflow.at(early).fault('workflow.specification alone, or no specification');
  if (early === undefined && !isLate)
    throw workflow.fault('specification (version 1.5 on), tasks (1.3, 1.4) or jobs (up to 1.2)');
  return !isLate;
}

function readTasks(workflow: LocatedValue, style: ReturnType<typeof getArgumentStyle>): WfTasks {
  const specification = workflow.at('specification');
  const hasFiles = specification.at('files').value !== undefined;
  const sizes = readSizes(specification);
  const rows = specification.at('tasks').list();
  const runs = readRuns(workflow, new Set(rows.map((row) => row.at('id').text())));
  const getFiles = (list: LocatedValue): WorkflowFile[] =>
    distinctFiles(
      list.list().map((file) => {
        const bytes = sizes.get(file.text()) ?? (hasFiles ? undefined : 0);
        if (bytes === undefined)
          throw file.fault('a file that workflow.specification.files lists', 'MUT_WORKFLOW_NO_PRODUCER');
        return makeFile(file.text(), bytes);
      }),
    );
  const tasks = rows.map((row): DocumentTask => {
    const id = row.at('id').text();
    const run = runs.get(id);
    return {
      id,
      kind: textOr(row.at('name'), id),
      exchange: 0,
      inputs: getFiles(row.at('inputFiles')),
      outputs: getFiles(row.at('outputFiles')),
      place: () => row.at('id').place(),
      work: (run === undefined ? 0 : amountOr(run.at('runtimeInSeconds'), 0)) * referenceSpeed,
      ...getWidths(run?.at('coreCount')),
      ...findMemory(run?.at('memoryInBytes'), 1),
      command: run === undefined ? '' : getCommandLine(run.at('command'), { style }),
    };
  });
  return { tasks, edges: rows.flatMap((row) => getEdges(row, row.at('id').text(), (reference) => reference.text())) };
}

/** Sizes of files by their ids. @throws {FormatError} MUT_WORKFLOW_COST for a file with two sizes. */
function readSizes(specification: LocatedValue): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const file of specification.at('files').list()) {
    const id = file.at('id').text();
    const size = amountOr(file.at('sizeInBytes'), 0);
    const before = sizes.get(id) ?? size;
    if (before !== size)
      throw file.at('sizeInBytes').fault(`${before}, as for the same file before`, 'MUT_WORKFLOW_COST');
    sizes.set(id, size);
  }
  return sizes;
}

/** What runs report, by the ids of tasks. @throws {FormatError} for a run of no task, or two of one. */
function readRuns(workflow: LocatedValue, ids: ReadonlySet<string>): Map<string, LocatedValue> {
  const runs = new Map<string, LocatedValue>();
  for (const run of workflow.at('execution').at('tasks').list()) {
    const id = run.at('id').text();
    if (!ids.has(id)) throw run.at('id').fault('a task of workflow.specification.tasks', 'MUT_WORKFLOW_DANGLING_EDGE');
    if (runs.has(id)) throw run.at('id').fault('one run of each task', 'MUT_WORKFLOW_DUPLICATE_TASK');
    runs.set(id, run);
  }
  return runs;
}

function describeMoved(moved: ReadonlyMap<string, string>): string[] {
  const [first] = moved;
  if (first === undefined) return [];
  return [
    `${plural(moved.size, 'name')} of files ${moved.size === 1 ? 'is a path' : 'are paths'} from the root or ` +
      `${moved.size === 1 ? 'a URL' : 'URLs'}: they stand for files below the folder of the workflow, ${first[0]} ` +
      `for ${first[1]}`,
  ];
}
