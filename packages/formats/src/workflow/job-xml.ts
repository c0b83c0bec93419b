import { operationCost, operations } from '@mutirao/core/workflow';
import { findNearestWord } from '@mutirao/core/shared';
import { FormatError } from '../format-error.ts';
import { part, PartChecker, type FormatPart } from './format-parts.ts';
import { readAttribute, escapeXml, getNumber, readXml, type XmlElement } from './read-xml.ts';
import type { DocumentEdge, DocumentTask, WorkflowDocument } from './workflow-document.ts';

/** Most processors of a task in this format, which does not limit them. */
const widthMax = 1024;

/** All that a file in this format may hold. */
export const jobXmlParts: readonly FormatPart[] = [
  part('job job@name', 'all', 'read', 'label of the job'),
  part('job@ccr', 'all', 'read', 'what an edge costs, as a share of the run time of its sender (0.3)'),
  part(
    'job/tasks job/tasks/task job/tasks/task@id job/tasks/task@operation job/tasks/task@dimension',
    'all',
    'read',
    'a task: an operation on a matrix',
  ),
  part('job/tasks/task@parameters job/tasks/task@x job/tasks/task@y', 'all', 'read', 'what an editor keeps'),
  part('job/edges job/edges/edge job/edges/edge@start job/edges/edge@end', 'all', 'read', 'an edge'),
  part('job/edges/edge@share', 'all', 'read', 'as `ccr`, for this edge'),
];

/**
 * Reads a job in the XML that we define for moreira2009's jScheduler: a block of tasks (operation, dimension of the
 * matrix) and a block of edges.
 *
 * @throws {FormatError} MUT_WORKFLOW_SYNTAX; MUT_WORKFLOW_UNKNOWN for a part that is not in {@link jobXmlParts}
 */
export function parseJobXml(text: string, subject: string): WorkflowDocument {
  const root = readXml(text, subject);
  if (root.name !== 'job')
    throw new FormatError({
      code: 'MUT_WORKFLOW_SYNTAX',
      subject,
      line: root.line,
      column: root.column,
      found: `<${root.name}>`,
      expected: '<job>',
    });
  checkElements(root, root.name, new PartChecker(jobXmlParts, subject));
  const ratio = getNumber(root, 'ccr', subject, '0.3');
  const inside = (block: string, name: string): XmlElement[] =>
    root.children
      .filter((each) => each.name === block)
      .flatMap(({ children }) => children.filter((each) => each.name === name));
  const edges = inside('edges', 'edge').map(
    (edge): DocumentEdge => ({
      from: readAttribute(edge, 'start', subject),
      to: readAttribute(edge, 'end', subject),
      share: getNumber(edge, 'share', subject, String(ratio)),
      place: () => edge,
    }),
  );
  return {
    name: root.attributes['name'] ?? '',
    subject,
    tasks: inside('tasks', 'task').map((task) => readTask(task, subject)),
    edges,
    warnings: [],
  };
}

function checkElements(element: XmlElement, path: string, checker: PartChecker): void {
  checker.check(path, `<${element.name}>`, () => element);
  for (const [name, value] of Object.entries(element.attributes))
    if (!/^(?:xmlns|xsi)(?::|$)/.test(name))
      checker.check(`${path}@${name}`, `${name}="${value}" of <${element.name}>`, () => element);
  for (const child of element.children) checkElements(child, `${path}/${child.name}`, checker);
}

function readTask(task: XmlElement, subject: string): DocumentTask {
  const operation = operations.find((each) => each === readAttribute(task, 'operation', subject));
  if (operation === undefined) {
    const found = readAttribute(task, 'operation', subject);
    throw new FormatError({
      code: 'MUT_WORKFLOW_SYNTAX',
      subject,
      line: task.line,
      column: task.column,
      found: `operation="${found}"`,
      expected: `one of ${operations.join(', ')}`,
      nearest: findNearestWord(found, operations),
    });
  }
  const dimension = getNumber(task, 'dimension', subject);
  const { work, exchange } = operationCost(operation, dimension);
  return {
    id: readAttribute(task, 'id', subject),
    kind: operation,
    work,
    exchange,
    widthMin: 1,
    widthMax,
    command: '',
    inputs: [],
    outputs: [],
    matrix: {
      operation,
      dimension,
      parameters: task.attributes['parameters'] ?? '',
      x: getNumber(task, 'x', subject, '0'),
      y: getNumber(task, 'y', subject, '0'),
    },
    place: () => task,
  };
}

/** Writes a workflow in that XML. Undefined when a task is not an operation on a matrix. */
export function printJobXml({ name, tasks, edges }: WorkflowDocument): string | undefined {
  const rows = tasks.map(({ id, matrix }) =>
    matrix === undefined
      ? undefined
      : `    <task id="${escapeXml(id)}" operation="${matrix.operation}" dimension="${matrix.dimension}" ` +
        `parameters="${escapeXml(matrix.parameters)}" x="${matrix.x}" y="${matrix.y}"/>\n`,
  );
  if (rows.includes(undefined)) return undefined;
  const lines = edges.map(
    ({ from, to, share = 0 }) => `    <edge start="${escapeXml(from)}" end="${escapeXml(to)}" share="${share}"/>\n`,
  );
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<job name="${escapeXml(name)}">\n  <tasks>\n${rows.join('')}  ` +
    `</tasks>\n  <edges>\n${lines.join('')}  </edges>\n</job>\n`
  );
}
