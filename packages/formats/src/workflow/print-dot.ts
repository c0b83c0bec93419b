import type { WorkflowDocument } from './workflow-document.ts';

const quote = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

/** Writes a workflow for Graphviz: a box for each task, an arrow for each edge. */
export function printDot({ name, tasks, edges }: WorkflowDocument): string {
  const boxes = tasks.map(
    ({ id, kind }) => `  ${quote(id)} [label=${quote(kind === id || kind === '' ? id : `${id}\n${kind}`)}];\n`,
  );
  const arrows = edges.map(({ from, to }) => `  ${quote(from)} -> ${quote(to)};\n`);
  return `digraph ${quote(name)} {\n  node [shape=box];\n${boxes.join('')}${arrows.join('')}}\n`;
}
