import { quoteForShell } from '@mutirao/core/bag';
import { readJson, type LocatedValue } from './located-value.ts';
import { referenceSpeed, type DocumentEdge, type DocumentTask, type WorkflowDocument, type WorkflowFile } from './workflow-document.ts';

/** The one version of WfFormat that is read and written. */
export const wfFormatVersion = '1.5';

/**
 * Reads a workflow of WfCommons (WfFormat 1.5): its specification, with the run times of its execution.
 *
 * @throws {FormatError} MUT_WORKFLOW_VERSION for another version; MUT_WORKFLOW_NO_WRITER for an input that is no file of the specification; MUT_WORKFLOW_SYNTAX
 */
export function parseWfFormat(text: string, subject: string): WorkflowDocument {
  const root = readJson(text, subject);
  const version = root.at('schemaVersion');
  if (version.value !== wfFormatVersion) throw version.fault(`"${wfFormatVersion}", the version of WfFormat that is read`, 'MUT_WORKFLOW_VERSION');
  const specification = root.at('workflow').at('specification');
  const sizes = new Map(specification.at('files').list().map((file) => [file.at('id').text(), file.at('sizeInBytes').number(0)]));
  const times = new Map(root.at('workflow').at('execution').at('tasks').list().map((task) => [task.at('id').text(), task.at('runtimeInSeconds').number()]));
  const commands = new Map(root.at('workflow').at('execution').at('tasks').list().map((task) => [task.at('id').text(), readCommand(task.at('command'))]));
  const rows = specification.at('tasks').list();
  const tasks = rows.map((row) => ({ ...readTask(row, sizes, times), command: commands.get(row.at('id').text()) ?? '' }));
  const edges = rows.flatMap((row): DocumentEdge[] => row.at('parents').list().map((parent) => ({ from: parent.text(), to: row.at('id').text(), place: () => parent.place() })));
  return { name: root.at('name').text(''), subject, tasks, edges, warnings: [] };
}

/** A program and its arguments as a line for the shell; empty where nothing is said. */
function readCommand(command: LocatedValue): string {
  const program = command.value === undefined ? '' : command.at('program').text('');
  return program === '' ? '' : [program, ...command.at('arguments').list().map((argument) => argument.text())].map(quoteForShell).join(' ');
}

function readTask(row: LocatedValue, sizes: ReadonlyMap<string, number>, times: ReadonlyMap<string, number>): DocumentTask {
  const id = row.at('id').text();
  const files = (key: string): WorkflowFile[] => row.at(key).list().map((file) => {
    const bytes = sizes.get(file.text());
    if (bytes === undefined) throw file.fault('a file that workflow.specification.files lists', 'MUT_WORKFLOW_NO_WRITER');
    return { name: file.text(), bytes };
  });
  const seconds = times.get(id);
  if (seconds === undefined) throw row.at('id').fault('a task with a run time in workflow.execution.tasks', 'MUT_WORKFLOW_COST');
  return {
    id, kind: row.at('name').text(id), work: seconds * referenceSpeed, exchange: 0, widthMin: 1, widthMax: 1, command: '',
    inputs: files('inputFiles'), outputs: files('outputFiles'), place: () => row.at('id').place(),
  };
}

/** Writes a workflow as WfFormat 1.5; a command is given to a shell, as we run it. Exchange, widths and shares of run times have no place in it. Cost: O(tasks + edges + files). */
export function printWfFormat({ name, tasks, edges }: WorkflowDocument): string {
  const parents = Map.groupBy(edges, ({ to }) => to);
  const children = Map.groupBy(edges, ({ from }) => from);
  const files = new Map(tasks.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]).map((file) => [file.name, file.bytes]));
  for (const { outputs } of tasks) for (const file of outputs) files.set(file.name, file.bytes);
  const specification = {
    tasks: tasks.map(({ id, kind, inputs, outputs }) => ({
      name: kind, id, parents: (parents.get(id) ?? []).map(({ from }) => from), children: (children.get(id) ?? []).map(({ to }) => to), inputFiles: inputs.map((file) => file.name), outputFiles: outputs.map((file) => file.name),
    })),
    files: [...files].map(([id, sizeInBytes]) => ({ id, sizeInBytes })),
  };
  const execution = { tasks: tasks.map(({ id, work, command }) => ({ id, runtimeInSeconds: work / referenceSpeed, ...(command === '' ? {} : { command: { program: 'sh', arguments: ['-c', command] } }) })) };
  return `${JSON.stringify({ name, schemaVersion: wfFormatVersion, workflow: { specification, execution } }, null, 2)}\n`;
}
