import type { LocatedValue } from '../located-value.ts';
import { referenceSpeed, type DocumentTask, type WorkflowFile } from '../workflow-document.ts';
import { getCommandLine, type ArgumentStyle } from './wf-command.ts';
import { distinctFiles, getEdges, fileOf, findMemory, numberOr, textOr, getWidths, type WfTasks } from './wf-values.ts';

/** Memory is in kB up to version 1.3. */
const kilobyte = 1000;

/**
 * Reads the tasks of WfFormat 1.0 to 1.4, which have their files and what a run tells of them within, and name each
 * other by name.
 *
 * @throws {FormatError} MUT_WORKFLOW_DANGLING_EDGE; MUT_WORKFLOW_UNSUPPORTED for a link that is neither input nor
 * output; MUT_WORKFLOW_SYNTAX
 */
export function readEarlyTasks(workflow: LocatedValue, style: ArgumentStyle): WfTasks {
  const rows = [...workflow.at('jobs').list(), ...workflow.at('tasks').list()];
  const names = Map.groupBy(rows, (row) => row.at('name').text());
  const idOf = (row: LocatedValue): string => {
    const name = row.at('name').text();
    const id = textOr(row.at('id'), '');
    return (names.get(name) ?? []).length === 1 || id === '' ? name : `${name}_${id}`;
  };
  const known = new Map([
    ...rows.map((row) => [textOr(row.at('id'), ''), idOf(row)] as const),
    ...rows.map((row) => [row.at('name').text(), idOf(row)] as const),
  ]);
  return {
    tasks: rows.map((row) => readTask(row, idOf(row), style)),
    edges: rows.flatMap((row) =>
      getEdges(row, idOf(row), (reference) => known.get(reference.text()) ?? reference.text()),
    ),
  };
}

function readTask(row: LocatedValue, id: string, style: ArgumentStyle): DocumentTask {
  const name = row.at('name').text();
  const files = row.at('files').list();
  for (const file of files)
    if (!['input', 'output'].includes(file.at('link').text().toLowerCase()))
      throw file.at('link').fault('input or output', 'MUT_WORKFLOW_UNSUPPORTED');
  const getFiles = (link: string): WorkflowFile[] =>
    distinctFiles(
      files
        .filter((file) => file.at('link').text().toLowerCase() === link)
        .map((file) =>
          fileOf(
            `${textOr(file.at('path'), '')}${file.at('name').text()}`,
            numberOr(file.at('sizeInBytes'), numberOr(file.at('size'), 0)),
          ),
        ),
    );
  return {
    id,
    kind: textOr(row.at('category'), name),
    exchange: 0,
    inputs: getFiles('input'),
    outputs: getFiles('output'),
    place: () => row.at('name').place(),
    work: numberOr(row.at('runtimeInSeconds'), numberOr(row.at('runtime'), 0)) * referenceSpeed,
    ...getWidths(row.at('cores')),
    ...findMemory(row.at('memory'), kilobyte),
    ...findMemory(row.at('memoryInBytes'), 1),
    command: getCommand(row, name, style),
  };
}

/** Up to version 1.1 the arguments stand beside the name, which begins with the program. */
function getCommand(row: LocatedValue, name: string, style: ArgumentStyle): string {
  if (row.at('arguments').value === undefined) return getCommandLine(row.at('command'), { style });
  return getCommandLine(row, { style, named: name.replace(/_ID\d+$/, '') });
}
