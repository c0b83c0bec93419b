import { FormatError } from '../format-error.ts';
import { printDax } from './dax.ts';
import { printJobXml } from './job-xml.ts';
import { parseWorkflow } from './parse-workflow.ts';
import { printDot } from './print-dot.ts';
import { printYaml } from './print-yaml.ts';
import { printWfFormat } from './wf-format.ts';
import { draftOf, type WorkflowDocument } from './workflow-document.ts';

/** Parts of a workflow that a format may have no place for, and how many there are. */
const parts = {
  'commands': ({ tasks }: WorkflowDocument): number => tasks.filter(({ command }) => command !== '').length,
  'files': ({ tasks }: WorkflowDocument): number => tasks.reduce((sum, { inputs, outputs }) => sum + inputs.length + outputs.length, 0),
  'kinds of tasks': ({ tasks }: WorkflowDocument): number => tasks.filter(({ id, kind }) => kind !== id && kind !== '').length,
  'numbers of processors': ({ tasks }: WorkflowDocument): number => tasks.filter(({ widthMax }) => widthMax > 1).length,
  'operations on matrices': ({ tasks }: WorkflowDocument): number => tasks.filter(({ matrix }) => matrix !== undefined).length,
  'edges that cost a share of their sender\'s run time': ({ edges }: WorkflowDocument): number => edges.filter(({ share = 0 }) => share > 0).length,
  'outputs that are wanted although tasks read them': ({ outputs = [] }: WorkflowDocument): number => outputs.length,
} as const;

interface WrittenFormat {
  readonly title: string;
  /** Undefined where the workflow cannot be said in it at all. */
  readonly print: (document: WorkflowDocument) => string | undefined;
  readonly lacks: readonly (keyof typeof parts)[];
}

const shares = 'edges that cost a share of their sender\'s run time';
const wanted = 'outputs that are wanted although tasks read them';
const formats = {
  yaml: { title: 'YAML', print: printYaml, lacks: ['kinds of tasks', 'operations on matrices', shares] },
  wfformat: { title: 'WfFormat', print: printWfFormat, lacks: ['numbers of processors', 'operations on matrices', shares, wanted] },
  dax: { title: 'DAX', print: printDax, lacks: ['commands', 'numbers of processors', 'operations on matrices', shares, wanted] },
  xml: { title: 'job XML', print: printJobXml, lacks: ['commands', 'files', wanted] },
  dot: { title: 'DOT', print: printDot, lacks: ['commands', 'files', 'numbers of processors', 'operations on matrices', shares, wanted] },
} as const satisfies Record<string, WrittenFormat>;

/** A format that workflows are written in. */
export type WrittenFormatName = keyof typeof formats;

export const writtenFormats = Object.keys(formats) as readonly WrittenFormatName[];

/** A workflow in another format. */
export interface ConvertedWorkflow {
  readonly text: string;
  /** What the format has no place for, a sentence each. */
  readonly losses: readonly string[];
}

/**
 * Writes a workflow in a format, and reads it again before it is given out: nobody gets a file that would be refused.
 *
 * @throws {FormatError} what {@link draftOf} finds in the workflow, or in what became of it: MUT_WORKFLOW_TWO_WRITERS for a DAX with several writers of a file, which only DAX and DOT can say;
 * MUT_WORKFLOW_SYNTAX for job XML, which has operations on matrices only.
 */
export function convertWorkflow(document: WorkflowDocument, name: WrittenFormatName): ConvertedWorkflow {
  draftOf(document);
  const { title, print, lacks }: WrittenFormat = formats[name];
  const text = print(document);
  if (text === undefined) {
    const odd = document.tasks.find(({ matrix }) => matrix === undefined);
    throw new FormatError({ code: 'MUT_WORKFLOW_SYNTAX', subject: document.subject, ...(odd?.place() ?? { line: 1, column: 1 }), found: `task ${odd?.id ?? ''}, which is no operation on a matrix`, expected: `a workflow that ${title} can say` });
  }
  if (name !== 'dot') draftOf(parseWorkflow(text, `${document.subject} as ${title}`));
  return { text, losses: lacks.flatMap((part) => { const count = parts[part](document); return count === 0 ? [] : [`${title} has no place for ${part}; there are ${count}`]; }) };
}
