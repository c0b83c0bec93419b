import type { LocatedValue } from '../located-value.ts';
import { referenceSpeed, type DocumentTask, type WorkflowFile } from '../workflow-document.ts';
import { getCommandLine, type ArgumentStyle } from './wf-command.ts';
import {
  distinctFiles,
  getEdges,
  makeFile,
  findMemory,
  amountOr,
  textOr,
  getWidths,
  type WfTasks,
} from './wf-values.ts';

/** Memory is in kB up to version 1.3. */
const kilobyte = 1000;

/**
 * Reads the tasks of WfFormat 1.0 to 1.4, which contain their files and the record of a run, and refer to each other by
 * name.
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
  // By name and by id; a task may have its name as its id.
  const known = new Map<string, Set<string>>();
  for (const row of rows)
    for (const word of [row.at('name').text(), textOr(row.at('id'), '')])
      if (word !== '') known.set(word, (known.get(word) ?? new Set()).add(idOf(row)));
  return {
    tasks: rows.map((row) => readTask(row, idOf(row), style)),
    edges: rows.flatMap((row) => getEdges(row, idOf(row), (reference) => findTask(reference, known))),
  };
}

/** The task that a name or an id stands for. @throws {FormatError} MUT_WORKFLOW_DANGLING_EDGE for several or none. */
function findTask(reference: LocatedValue, known: ReadonlyMap<string, ReadonlySet<string>>): string {
  const [found, ...others] = known.get(reference.text()) ?? [];
  if (found === undefined) throw reference.fault('the name or the id of a task', 'MUT_WORKFLOW_DANGLING_EDGE');
  if (others.length === 0) return found;
  throw reference.fault(
    `one task; ${[found, ...others].slice(0, 3).join(', ')}${others.length > 2 ? ', ...' : ''} have that name or id`,
    'MUT_WORKFLOW_DANGLING_EDGE',
  );
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
          makeFile(
            joinPath(textOr(file.at('path'), ''), file.at('name').text()),
            amountOr(file.at('sizeInBytes'), amountOr(file.at('size'), 0)),
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
    work: amountOr(row.at('runtimeInSeconds'), amountOr(row.at('runtime'), 0)) * referenceSpeed,
    ...getWidths(row.at('cores')),
    ...findMemory(row.at('memory'), kilobyte),
    ...findMemory(row.at('memoryInBytes'), 1),
    command: getCommand(row, name, style),
  };
}

/** A file in a folder; some files name it in the path, too. */
function joinPath(path: string, name: string): string {
  if (path === '' || path === name || path.endsWith(`/${name}`)) return path === '' ? name : path;
  return path.endsWith('/') ? `${path}${name}` : `${path}/${name}`;
}

/** Up to version 1.1 the arguments are a field next to the name, which begins with the program. */
function getCommand(row: LocatedValue, name: string, style: ArgumentStyle): string {
  if (row.at('arguments').value === undefined) return getCommandLine(row.at('command'), { style });
  return getCommandLine(row, { style, named: name.replace(/_ID\d+$/, '') });
}
