import { FormatError } from '../format-error.ts';
import { parseAlternative } from '../values/alternative.ts';
import { parseDuration } from '../values/duration.ts';
import { parseGpus, parseNamedResource } from '../values/resources.ts';
import { parseSize } from '../values/size.ts';
import { readYaml, type LocatedValue } from './located-value.ts';
import {
  referenceSpeed,
  type DocumentEdge,
  type DocumentTask,
  type WorkflowDocument,
  type WorkflowFile,
} from './workflow-document.ts';

const taskKeys = [
  'after',
  'alternatives',
  'command',
  'gpus',
  'inputs',
  'memory',
  'outputs',
  'processors',
  'resources',
  'time',
];

/**
 * Reads a workflow that people write by hand: tasks with commands, inputs and outputs. A task waits for those that
 * write its inputs, and for those named in `after`.
 *
 * @throws {FormatError} MUT_WORKFLOW_NO_PRODUCER for an input that is neither written by a task nor an input of the
 * workflow; MUT_WORKFLOW_DUPLICATE_EDGE for a task that is named twice in `after`; MUT_WORKFLOW_VERSION for a workflow
 * of Pegasus 5; MUT_WORKFLOW_SYNTAX; MUT_BAD_DURATION; MUT_BAD_SIZE; MUT_BAD_RESOURCE
 */
export function parseYamlWorkflow(text: string, subject: string): WorkflowDocument {
  const root = readYaml(text, subject);
  if (root.at('pegasus').value !== undefined)
    throw root
      .at('pegasus')
      .fault(
        'a DAX, which Pegasus writes up to version 4.9; its YAML of version 5 is not read',
        'MUT_WORKFLOW_VERSION',
      );
  refuseOthers(root, ['inputs', 'name', 'outputs', 'tasks']);
  const given = new Set(getFiles(root.at('inputs')).map(({ name }) => name));
  const rows = root.at('tasks').entries();
  const tasks = rows.map(([id, row]) => readTask(id, row));
  const writers = new Map(tasks.flatMap(({ id, outputs }) => outputs.map(({ name }) => [name, id] as const)));
  const edges = rows.flatMap(([id, row], index) =>
    getEdges(id, row, (tasks[index] as DocumentTask).inputs, (file) => {
      const writer = writers.get(file);
      if (writer === undefined && !given.has(file)) {
        throw new FormatError({
          code: 'MUT_WORKFLOW_NO_PRODUCER',
          subject,
          ...row.at('inputs').place(),
          found: `the input ${file} of task ${id}, which no task writes`,
          expected: 'an output of a task, or a name in inputs of the whole workflow',
        });
      }
      return writer;
    }),
  );
  const wanted = root.at('outputs').list();
  for (const file of wanted)
    if (!writers.has(file.text())) throw file.fault('a file that a task writes', 'MUT_WORKFLOW_NO_PRODUCER');
  return {
    name: root.at('name').text(''),
    subject,
    tasks,
    edges,
    outputs: wanted.map((file) => file.text()),
    warnings: [],
  };
}

function getEdges(
  id: string,
  row: LocatedValue,
  inputs: readonly WorkflowFile[],
  writerOf: (file: string) => string | undefined,
): DocumentEdge[] {
  const places = new Map<string, LocatedValue>();
  for (const { name } of inputs) {
    const writer = writerOf(name);
    if (writer !== undefined) places.set(writer, row.at('inputs'));
  }
  const named = new Set<string>();
  for (const before of row.at('after').list()) {
    const from = before.text();
    if (named.has(from)) throw before.fault('each task once', 'MUT_WORKFLOW_DUPLICATE_EDGE');
    places.set(from, before);
    named.add(from);
  }
  return [...places].map(([from, place]) => ({ from, to: id, place: () => place.place() }));
}

function readTask(id: string, row: LocatedValue): DocumentTask {
  refuseOthers(row, taskKeys);
  const [widthMin, widthMax] = readWidths(row.at('processors'));
  const time = row.at('time');
  const memory = row.at('memory');
  return {
    id,
    kind: id,
    work: (time.read(parseDuration, '0') * referenceSpeed) / 1000,
    exchange: 0,
    widthMin,
    widthMax,
    ...(memory.value === undefined ? {} : { memory: memory.read(readSize) }),
    ...readGpus(row.at('gpus')),
    ...readNamed(row.at('resources')),
    ...readAlternatives(row.at('alternatives')),
    command: row.at('command').text(''),
    inputs: getFiles(row.at('inputs')),
    outputs: getFiles(row.at('outputs')),
    place: () => row.place(),
  };
}

/** GPUs of a task: `1`, `0.5` or `2:a100`. */
function readGpus(value: LocatedValue): Pick<DocumentTask, 'gpus'> {
  return value.value === undefined ? {} : { gpus: value.readAmount(parseGpus) };
}

/** Counted resources of a task by name: `licence: 1`, `scratch: 200G`. */
function readNamed(value: LocatedValue): Pick<DocumentTask, 'named'> {
  const amounts = value
    .entries()
    .map(([name, row]) => row.readAmount((text) => parseNamedResource(`${name}=${text}`)))
    .map(({ name, amount }): readonly [string, number] => [name, amount]);
  return amounts.length === 0 ? {} : { named: Object.fromEntries(amounts) };
}

/** Other requests that a task can do with: a list such as `- cpus=16,memory=8G,time=30m`. */
function readAlternatives(value: LocatedValue): Pick<DocumentTask, 'alternatives'> {
  const alternatives = value.list().map((row) => row.read(parseAlternative));
  return alternatives.length === 0 ? {} : { alternatives };
}

/** Processors of a task: `4`, or `1-8` for one that may have any number between. */
function readWidths(value: LocatedValue): readonly [number, number] {
  const match = /^(\d+)(?:-(\d+))?$/.exec(String(value.value ?? 1));
  if (match === null) throw value.fault('a number such as 4, or a range such as 1-8', 'MUT_WORKFLOW_WIDTH');
  return [Number(match[1]), Number(match[2] ?? match[1])];
}

/** Files as a list of names, or as names with sizes. */
function getFiles(value: LocatedValue): WorkflowFile[] {
  if (Array.isArray(value.value)) return value.list().map((name) => ({ name: name.text(), bytes: 0 }));
  if (typeof value.value === 'string') throw value.fault('a list of names, or names with sizes');
  return value.entries().map(([name, size]) => ({ name, bytes: size.value === null ? 0 : size.read(readSize) }));
}

/** A size, or a plain number of bytes, which programs also write as `1.5e9`. */
function readSize(text: string): number {
  const bytes = /^\d*\.?\d+(?:e\+?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(bytes) ? bytes : parseSize(text);
}

function refuseOthers(value: LocatedValue, known: readonly string[]): void {
  const other = value.entries().find(([key]) => !known.includes(key));
  if (other !== undefined) throw other[1].fault(`one of ${known.join(', ')}`);
}
