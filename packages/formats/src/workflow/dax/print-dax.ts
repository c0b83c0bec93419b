import { wholeDevice } from '@mutirao/core/resources';
import { findPlainWords } from '../shell-line.ts';
import { escapeXml } from '../read-xml.ts';
import {
  isComingHome,
  referenceSpeed,
  type DocumentTask,
  type WorkflowDocument,
  type WorkflowFile,
} from '../workflow-document.ts';

const mebibyte = 1024 * 1024;

/**
 * Writes a workflow as DAX 3.6. A command that a shell must read is one for `sh -c`; exchange, ranges of widths and
 * shares of run times have no place in it.
 */
export function printDax(document: WorkflowDocument): string {
  const { name, tasks, edges } = document;
  const homes = new Map(
    tasks.flatMap(({ inputs }) =>
      inputs.flatMap((file) => (file.home?.startsWith('/') === true ? [[file.name, file.home] as const] : [])),
    ),
  );
  const files = [...homes].map(
    ([file, home]) =>
      `  <file name="${escapeXml(file)}">\n    <pfn url="file://${escapeXml(encodeURI(home))}" ` +
      'site="local"/>\n  </file>\n',
  );
  const comesHome = isComingHome(document);
  const parents = Map.groupBy(edges, ({ to }) => to);
  const children = [...parents].map(
    ([to, from]) =>
      '  <child ' +
      `ref="${escapeXml(to)}">\n${from.map((edge) => `    <parent ref="${escapeXml(edge.from)}"/>\n`).join('')}  ` +
      '</child>\n',
  );
  const jobs = tasks.map((task) => printJob(task, (file) => comesHome(task, file)));
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="3.6" ' +
    `name="${escapeXml(name)}">\n${files.join('')}${jobs.join('')}${children.join('')}</adag>\n`
  );
}

function printJob(task: DocumentTask, comesHome: (file: WorkflowFile) => boolean): string {
  const { id, kind, work, command } = task;
  const seconds = work / referenceSpeed;
  const uses = printUses(task, comesHome);
  // The workflow generator's way of saying a run time is read as a job without a command.
  if (command.trim() === '')
    return (
      `  <job id="${escapeXml(id)}" name="${escapeXml(kind)}" ` +
      `runtime="${seconds}">\n${printProfiles({ ...task, work: 0 })}${uses}  </job>\n`
    );
  const [program = '', ...given] = findPlainWords(command) ?? ['sh', '-c', command];
  const argument =
    given.length === 0 ? '' : `    <argument>${escapeXml(given.map(quoteArgument).join(' '))}</argument>\n`;
  return (
    `  <job id="${escapeXml(id)}" name="${escapeXml(program)}">\n${argument}${printProfiles(task)}${uses}  ` +
    '</job>\n'
  );
}

function printProfiles({ work, widthMin, memory, gpus }: DocumentTask): string {
  const profile = (key: string, value: number): string =>
    `    <profile namespace="pegasus" key="${key}">${value}</profile>\n`;
  return [
    ...(work === 0 ? [] : [profile('runtime', work / referenceSpeed)]),
    ...(widthMin === 1 ? [] : [profile('cores', widthMin)]),
    ...(memory === undefined ? [] : [profile('memory', Math.ceil(memory / mebibyte))]),
    ...(gpus === undefined ? [] : [profile('gpus', Math.ceil(gpus.gpus / wholeDevice))]),
  ].join('');
}

function printUses({ inputs, outputs }: DocumentTask, comesHome: (file: WorkflowFile) => boolean): string {
  const written = new Map(outputs.map((file) => [file.name, file]));
  const line = (file: WorkflowFile, link: string, more = ''): string =>
    `    <uses name="${escapeXml(file.name)}" link="${link}"${more} size="${file.bytes}"/>\n`;
  const transfer = (file: WorkflowFile): string => ` transfer="${comesHome(file)}"`;
  const read = inputs.map((file) => {
    const output = written.get(file.name);
    return output === undefined ? line(file, 'input') : line(output, 'inout', transfer(output));
  });
  const readNames = new Set(inputs.map(({ name }) => name));
  return [
    ...read,
    ...outputs.filter(({ name }) => !readNames.has(name)).map((file) => line(file, 'output', transfer(file))),
  ].join('');
}

/** Writes a word so that Pegasus, and our reader, takes it as one argument. */
function quoteArgument(word: string): string {
  return /^[^\s'"\\]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
