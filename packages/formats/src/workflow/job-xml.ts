import { operationCost, operations } from '@mutirao/core/workflow';
import { findNearestWord } from '@mutirao/core/shared';
import { FormatError } from '../format-error.ts';
import { numberOf } from './dax.ts';
import { attributeOf, escapeXml, readXml, type XmlElement } from './read-xml.ts';
import type { DocumentEdge, DocumentTask, WorkflowDocument } from './workflow-document.ts';

/** Most processors of a task in this format, which does not limit them. */
const widthMax = 1024;

/**
 * Reads a job in the XML that we define for moreira2009's jScheduler: a block of tasks (operation, dimension of the matrix) and a block of edges.
 *
 * @throws {FormatError} MUT_WORKFLOW_SYNTAX
 */
export function parseJobXml(text: string, subject: string): WorkflowDocument {
  const root = readXml(text, subject);
  if (root.name !== 'job') throw new FormatError({ code: 'MUT_WORKFLOW_SYNTAX', subject, line: root.line, column: root.column, found: `<${root.name}>`, expected: '<job>' });
  const ratio = numberOf(root, 'ccr', subject, '0.3');
  const inside = (block: string, name: string): XmlElement[] => root.children.filter((each) => each.name === block).flatMap(({ children }) => children.filter((each) => each.name === name));
  const edges = inside('edges', 'edge').map((edge): DocumentEdge => ({
    from: attributeOf(edge, 'start', subject), to: attributeOf(edge, 'end', subject), share: numberOf(edge, 'share', subject, String(ratio)), place: () => edge,
  }));
  return { name: root.attributes['name'] ?? '', subject, tasks: inside('tasks', 'task').map((task) => readTask(task, subject)), edges, warnings: [] };
}

function readTask(task: XmlElement, subject: string): DocumentTask {
  const operation = operations.find((each) => each === attributeOf(task, 'operation', subject));
  if (operation === undefined) {
    const found = attributeOf(task, 'operation', subject);
    throw new FormatError({ code: 'MUT_WORKFLOW_SYNTAX', subject, line: task.line, column: task.column, found: `operation="${found}"`, expected: `one of ${operations.join(', ')}`, nearest: findNearestWord(found, operations) });
  }
  const dimension = numberOf(task, 'dimension', subject);
  const { work, exchange } = operationCost(operation, dimension);
  return {
    id: attributeOf(task, 'id', subject), kind: operation, work, exchange, widthMin: 1, widthMax, command: '', inputs: [], outputs: [],
    matrix: { operation, dimension, parameters: task.attributes['parameters'] ?? '', x: numberOf(task, 'x', subject, '0'), y: numberOf(task, 'y', subject, '0') }, place: () => task,
  };
}

/** Writes a workflow in that XML. Undefined when a task is no operation on a matrix. */
export function printJobXml({ name, tasks, edges }: WorkflowDocument): string | undefined {
  const rows = tasks.map(({ id, matrix }) => (matrix === undefined ? undefined
    : `    <task id="${escapeXml(id)}" operation="${matrix.operation}" dimension="${matrix.dimension}" parameters="${escapeXml(matrix.parameters)}" x="${matrix.x}" y="${matrix.y}"/>\n`));
  if (rows.includes(undefined)) return undefined;
  const lines = edges.map(({ from, to, share = 0 }) => `    <edge start="${escapeXml(from)}" end="${escapeXml(to)}" share="${share}"/>\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<job name="${escapeXml(name)}">\n  <tasks>\n${rows.join('')}  </tasks>\n  <edges>\n${lines.join('')}  </edges>\n</job>\n`;
}
