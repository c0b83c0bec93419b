import { plural } from '@mutirao/core/shared';
import { FormatError } from '../format-error.ts';
import { attributeOf, escapeXml, readXml, type XmlElement } from './read-xml.ts';
import { referenceSpeed, type DocumentEdge, type DocumentTask, type WorkflowDocument, type WorkflowFile } from './workflow-document.ts';

/**
 * Reads a workflow of Pegasus (DAX): jobs with their run times in seconds and the files that they use, and edges from `child` and `parent`.
 *
 * Instances that were made of profiled runs hold times and sizes below 0, which count as 0, and files that several jobs write; warnings say so.
 *
 * @throws {FormatError} MUT_WORKFLOW_SYNTAX; MUT_WORKFLOW_COST where a number is none.
 */
export function parseDax(text: string, subject: string): WorkflowDocument {
  const root = readXml(text, subject);
  const negative: string[] = [];
  const tasks = root.children.filter(({ name }) => name === 'job').map((job) => readJob(job, subject, negative));
  const edges = root.children.filter(({ name }) => name === 'child').flatMap((child): DocumentEdge[] => child.children.filter(({ name }) => name === 'parent')
    .map((parent) => ({ from: attributeOf(parent, 'ref', subject), to: attributeOf(child, 'ref', subject), place: () => parent })));
  const shared = findShared(tasks);
  const warnings = [
    ...(negative.length === 0 ? [] : [`${plural(negative.length, 'number')} below 0 count as 0, the first at ${negative[0] as string}`]),
    ...(shared.length === 0 ? [] : [`${plural(shared.length, 'file')} with several writers, the first is ${shared[0] as string}`]),
  ];
  return { name: root.attributes['name'] ?? '', subject, tasks, edges, warnings, hasManyWriters: true };
}

function readJob(job: XmlElement, subject: string, negative: string[]): DocumentTask {
  const least = (element: XmlElement, name: string, fallback?: string): number => {
    const value = numberOf(element, name, subject, fallback);
    if (value < 0) negative.push(`line ${element.line}`);
    return Math.max(0, value);
  };
  const files = (link: string): WorkflowFile[] => job.children.filter((each) => each.name === 'uses' && each.attributes['link'] === link)
    .map((each) => ({ name: each.attributes['file'] ?? attributeOf(each, 'name', subject), bytes: least(each, 'size', '0') }));
  return {
    id: attributeOf(job, 'id', subject), kind: job.attributes['name'] ?? '', work: least(job, 'runtime') * referenceSpeed, exchange: 0, widthMin: 1, widthMax: 1,
    command: '', inputs: files('input'), outputs: files('output'), place: () => job,
  };
}

/** Files that more than one task writes. */
function findShared(tasks: readonly DocumentTask[]): string[] {
  const writers = new Map<string, number>();
  for (const { outputs } of tasks) for (const name of new Set(outputs.map((file) => file.name))) writers.set(name, (writers.get(name) ?? 0) + 1);
  return [...writers].flatMap(([name, count]) => (count > 1 ? [name] : []));
}

/** An attribute that is a number. @throws {FormatError} MUT_WORKFLOW_SYNTAX */
export function numberOf(element: XmlElement, name: string, subject: string, fallback?: string): number {
  const text = fallback === undefined ? attributeOf(element, name, subject) : element.attributes[name] ?? fallback;
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new FormatError({ code: 'MUT_WORKFLOW_COST', subject, line: element.line, column: element.column, found: `${name}="${text}"`, expected: 'a number' });
}

/** Writes a workflow as DAX 2.1; exchange, widths and shares of run times have no place in it. */
export function printDax({ name, tasks, edges }: WorkflowDocument): string {
  const uses = (files: readonly WorkflowFile[], link: string): string => files.map((file) => `    <uses file="${escapeXml(file.name)}" link="${link}" size="${file.bytes}"/>\n`).join('');
  const jobs = tasks.map(({ id, kind, work, inputs, outputs }) => `  <job id="${escapeXml(id)}" name="${escapeXml(kind)}" runtime="${work / referenceSpeed}">\n${uses(inputs, 'input')}${uses(outputs, 'output')}  </job>\n`);
  const parents = new Map<string, string[]>();
  for (const { from, to } of edges) parents.set(to, [...parents.get(to) ?? [], from]);
  const children = [...parents].map(([to, froms]) => `  <child ref="${escapeXml(to)}">\n${froms.map((from) => `    <parent ref="${escapeXml(from)}"/>\n`).join('')}  </child>\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" name="${escapeXml(name)}" jobCount="${tasks.length}">\n${jobs.join('')}${children.join('')}</adag>\n`;
}
