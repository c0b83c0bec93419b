import { findCriticalPath, makeWorkflow } from '@mutirao/core/workflow';
import { FormatError } from '../../format-error.ts';
import { findPlainWords } from '../shell-line.ts';
import { getDraft, referenceSpeed, type DocumentTask, type WorkflowDocument } from '../workflow-document.ts';
import { isPlainArgument } from './wf-command.ts';

/** The version of WfFormat that is written unless another one is asked for; what it says, 1.6 says in the same way. */
export const wfFormatVersion = '1.5';

/**
 * Writes a workflow as WfFormat, as its published schema has it. Ids of tasks that the schema does not allow are
 * replaced; a workflow that says neither commands nor run times is a specification alone, and one
 * that has not run has the longest path as its makespan. A command that a shell must read is one for `sh -c`. Exchange,
 * ranges of widths and shares of run times have no place in it.
 *
 * Cost: O(tasks + edges + files).
 *
 * @throws {FormatError} MUT_WORKFLOW_UNSUPPORTED for a file whose name the schema does not allow, and that a command
 * may hold.
 */
export function printWfFormat(document: WorkflowDocument, version = wfFormatVersion): string {
  const { tasks, edges } = document;
  const idOf = schemaIds(document, version);
  refuseNames(document);
  const parents = Map.groupBy(edges, ({ to }) => to);
  const children = Map.groupBy(edges, ({ from }) => from);
  const files = new Map(
    tasks.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]).map((file) => [file.name, file.bytes]),
  );
  for (const { outputs } of tasks) for (const file of outputs) files.set(file.name, file.bytes);
  const specification = {
    tasks: tasks.map(({ id, kind, inputs, outputs }) => ({
      name: kind === '' ? id : kind,
      id: idOf(id),
      parents: (parents.get(id) ?? []).map(({ from }) => idOf(from)),
      children: (children.get(id) ?? []).map(({ to }) => idOf(to)),
      inputFiles: inputs.map((file) => file.name),
      outputFiles: outputs.map((file) => file.name),
    })),
    files: [...files].map(([id, bytes]) => ({ id, sizeInBytes: Math.round(bytes) })),
  };
  const hasRuns = tasks.some(
    ({ work, command, widthMin, memory }) => work > 0 || command !== '' || widthMin > 1 || memory !== undefined,
  );
  const execution = {
    makespanInSeconds: longestPath(document),
    executedAt: neverRun,
    tasks: tasks.map((task) => runOf(task, idOf)),
  };
  return `${JSON.stringify({ name: nameOf(document), schemaVersion: version, workflow: { specification, ...(hasRuns ? { execution } : {}) } }, null, 2)}\n`;
}

/** A time that the schema wants and nobody knows. */
const neverRun = '1970-01-01T00:00:00Z';

function runOf(
  { id, work, command, widthMin, memory }: DocumentTask,
  idOf: (id: string) => string,
): Record<string, unknown> {
  const words = findPlainWords(command);
  const [program = 'sh', ...given] = words?.every(isPlainArgument) === true ? words : ['sh', '-c', command];
  return {
    id: idOf(id),
    runtimeInSeconds: work / referenceSpeed,
    ...(command === '' ? {} : { command: { program, arguments: given } }),
    ...(widthMin === 1 ? {} : { coreCount: widthMin }),
    ...(memory === undefined ? {} : { memoryInBytes: memory }),
  };
}

/** What stands for the id of a task: letters and digits, and a few characters of which version 1.6 allows two more. */
function schemaIds({ tasks }: WorkflowDocument, version: string): (id: string) => string {
  const other = version === '1.5' ? /[^0-9a-zA-Z_.#-]/g : /[^0-9a-zA-Z_.#:/-]/g;
  const taken = new Set(tasks.map(({ id }) => id).filter((id) => id !== '' && !changesIn(id, other)));
  const ids = new Map<string, string>();
  for (const { id } of tasks) {
    if (taken.has(id)) continue;
    const base = id.replace(other, '_') || 'task';
    let chosen = base;
    for (let number = 2; taken.has(chosen); number += 1) chosen = `${base}_${number}`;
    taken.add(chosen);
    ids.set(id, chosen);
  }
  return (id) => ids.get(id) ?? id;
}

function changesIn(id: string, other: RegExp): boolean {
  return id.replace(other, '_') !== id;
}

/** Ids that the schema does not allow as they are. */
export function countForeignIds({ tasks }: WorkflowDocument): number {
  return tasks.filter(({ id }) => !/^[0-9a-zA-Z_.#-]+$/.test(id)).length;
}

function refuseNames({ tasks, subject }: WorkflowDocument): void {
  for (const { id, inputs, outputs, place } of tasks) {
    const odd = [...inputs, ...outputs].find(({ name }) => !/^[0-9a-zA-Z_./:#-]+$/.test(name));
    if (odd === undefined) continue;
    throw new FormatError({
      code: 'MUT_WORKFLOW_UNSUPPORTED',
      subject,
      ...place(),
      found: `the file ${JSON.stringify(odd.name)} of task ${id}`,
      expected: 'names of letters, digits and _ . / : # - alone, which is what the schema of WfFormat allows',
    });
  }
}

/** A name that is not empty, which the schema wants. */
function nameOf({ name, subject }: WorkflowDocument): string {
  return name !== '' ? name : subject.replace(/^.*\//, '').replace(/\.[^.]*$/, '') || 'workflow';
}

function longestPath(document: WorkflowDocument): number {
  const workflow = makeWorkflow(getDraft(document));
  return findCriticalPath(workflow, {
    times: document.tasks.map(({ work }) => work / referenceSpeed),
    transfers: workflow.edges.map(() => 0),
  }).length;
}
