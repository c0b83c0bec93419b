import { wholeDevice } from '@mutirao/core/resources';
import { stringify } from 'yaml';
import { printAlternative } from '../values/alternative.ts';
import { printDuration } from '../values/duration.ts';
import { referenceSpeed, type DocumentTask, type WorkflowDocument, type WorkflowFile } from './workflow-document.ts';

/**
 * Writes a workflow as people write it by hand. Run times are rounded up to milliseconds; kinds, exchange and shares of
 * run times have no place in it. Cost: O(tasks + edges + files).
 */
export function printYaml({ name, tasks, edges, outputs: named = [] }: WorkflowDocument): string {
  const writers = new Map(tasks.flatMap((task) => task.outputs.map((file) => [file.name, task.id] as const)));
  const parents = new Map<string, string[]>();
  for (const { from, to } of edges) parents.set(to, [...(parents.get(to) ?? []), from]);
  const read = new Set(tasks.flatMap(({ inputs }) => inputs.map((file) => file.name)));
  const outputs = [
    ...new Set([
      ...named,
      ...tasks.flatMap((task) =>
        task.outputs.filter((file) => file.comesHome === true && read.has(file.name)).map((file) => file.name),
      ),
    ]),
  ];
  const given = tasks.flatMap(({ inputs }) => inputs.filter((file) => !writers.has(file.name)));
  const rows = Object.fromEntries(
    tasks.map((task) => [task.id, rowOf(task, getAfter(task, parents.get(task.id) ?? [], writers))]),
  );
  return stringify(
    {
      ...(name === '' ? {} : { name }),
      ...filled('inputs', getSizes(given)),
      ...filled('outputs', outputs),
      tasks: rows,
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
}

function rowOf(
  { command, inputs, outputs, work, widthMin, widthMax, memory, gpus, named = {}, alternatives = [] }: DocumentTask,
  after: readonly string[],
): Record<string, unknown> {
  const time = printDuration(Math.ceil((work * 1000) / referenceSpeed));
  return {
    ...filled('command', command),
    ...filled(
      'inputs',
      inputs.map((file) => file.name),
    ),
    ...filled('outputs', getSizes(outputs)),
    ...filled('time', work === 0 ? '' : time),
    ...(widthMax === 1 ? {} : { processors: widthMin === widthMax ? widthMin : `${widthMin}-${widthMax}` }),
    ...filled('memory', memory === undefined ? '' : `${memory}B`),
    ...filled('gpus', printGpus(gpus)),
    ...(Object.keys(named).length === 0 ? {} : { resources: named }),
    ...filled('alternatives', alternatives.map(printAlternative)),
    ...filled('after', after),
  };
}

/** As a user writes them; empty for none. */
function printGpus(request: DocumentTask['gpus']): string {
  if (request === undefined || request.gpus === 0) return '';
  const count = request.gpus / wholeDevice;
  return request.gpuKind === undefined ? String(count) : `${count}:${request.gpuKind}`;
}

/** Parents that do not follow from the files. */
function getAfter(
  { inputs }: DocumentTask,
  parents: readonly string[],
  writers: ReadonlyMap<string, string>,
): string[] {
  const reported = new Set(inputs.map((file) => writers.get(file.name)));
  return parents.filter((parent) => !reported.has(parent));
}

function getSizes(files: readonly WorkflowFile[]): Record<string, string> {
  return Object.fromEntries(files.map((file) => [file.name, `${file.bytes}B`]));
}

/** An entry of the text, left out where there is nothing to say. */
function filled(key: string, value: string | readonly string[] | Record<string, string>): Record<string, unknown> {
  return (typeof value === 'string' ? value.length : Object.keys(value).length) === 0 ? {} : { [key]: value };
}
