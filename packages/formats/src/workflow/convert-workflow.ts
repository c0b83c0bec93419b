import { wholeDevice } from '@mutirao/core/resources';
import { FormatError } from '../format-error.ts';
import { printDax } from './dax/print-dax.ts';
import { printJobXml } from './job-xml.ts';
import { parseWorkflow } from './parse-workflow.ts';
import { printDot } from './print-dot.ts';
import { printYaml } from './print-yaml.ts';
import { findPlainWords } from './shell-line.ts';
import { countForeignIds, printWfFormat } from './wf-format/print-wf-format.ts';
import { getDraft, type WorkflowDocument } from './workflow-document.ts';

/** Parts of a workflow that a format may have no place for, and how many there are. */
const parts = {
  commands: ({ tasks }: WorkflowDocument): number => tasks.filter(({ command }) => command !== '').length,
  files: ({ tasks }: WorkflowDocument): number =>
    tasks.reduce((sum, { inputs, outputs }) => sum + inputs.length + outputs.length, 0),
  'kinds of tasks': ({ tasks }: WorkflowDocument): number =>
    tasks.filter(({ id, kind }) => kind !== id && kind !== '').length,
  'kinds of tasks that are not their program': ({ tasks }: WorkflowDocument): number =>
    tasks.filter(
      ({ id, kind, command }) => command !== '' && kind !== '' && kind !== id && findPlainWords(command)?.[0] !== kind,
    ).length,
  'ids of tasks as they are': countForeignIds,
  'numbers of processors': ({ tasks }: WorkflowDocument): number => tasks.filter(({ widthMax }) => widthMax > 1).length,
  'ranges of processors': ({ tasks }: WorkflowDocument): number =>
    tasks.filter(({ widthMin, widthMax }) => widthMax > widthMin).length,
  'memory of tasks': ({ tasks }: WorkflowDocument): number => tasks.filter(({ memory }) => memory !== undefined).length,
  'GPUs of tasks': ({ tasks }: WorkflowDocument): number => tasks.filter(({ gpus }) => (gpus?.gpus ?? 0) > 0).length,
  'kinds and shares of GPUs': ({ tasks }: WorkflowDocument): number =>
    tasks.filter(({ gpus }) => gpus?.gpuKind !== undefined || (gpus?.gpus ?? 0) % wholeDevice > 0).length,
  'counted resources of tasks': ({ tasks }: WorkflowDocument): number =>
    tasks.filter(({ named }) => named !== undefined).length,
  'alternative requests of tasks': ({ tasks }: WorkflowDocument): number =>
    tasks.filter(({ alternatives }) => alternatives !== undefined).length,
  'places of files at home': ({ tasks }: WorkflowDocument): number =>
    new Set(tasks.flatMap(({ inputs }) => inputs.filter(({ home }) => home !== undefined).map(({ name }) => name)))
      .size,
  'run times that are not known': ({ tasks }: WorkflowDocument): number =>
    tasks.some(({ work, command }) => work > 0 || command !== '') ? tasks.filter(({ work }) => work === 0).length : 0,
  'operations on matrices': ({ tasks }: WorkflowDocument): number =>
    tasks.filter(({ matrix }) => matrix !== undefined).length,
  "edges that cost a share of their sender's run time": ({ edges }: WorkflowDocument): number =>
    edges.filter(({ share = 0 }) => share > 0).length,
  'outputs that are wanted although tasks read them': ({ outputs = [], tasks }: WorkflowDocument): number => {
    const read = new Set(tasks.flatMap(({ inputs }) => inputs.map(({ name }) => name)));
    return new Set([
      ...outputs,
      ...tasks.flatMap((task) =>
        task.outputs.filter(({ name, comesHome }) => comesHome === true && read.has(name)).map(({ name }) => name),
      ),
    ]).size;
  },
} as const;

interface WrittenFormat {
  readonly title: string;
  /** Undefined where the workflow cannot be said in it at all. */
  readonly print: (document: WorkflowDocument) => string | undefined;
  readonly lacks: readonly (keyof typeof parts)[];
}

const shares = "edges that cost a share of their sender's run time";
const wanted = 'outputs that are wanted although tasks read them';
const places = 'places of files at home';
const named = 'counted resources of tasks';
const others = 'alternative requests of tasks';
const wfLosses = [
  'ids of tasks as they are',
  'ranges of processors',
  'GPUs of tasks',
  named,
  others,
  places,
  'run times that are not known',
  'operations on matrices',
  shares,
  wanted,
] as const;
const formats = {
  yaml: { title: 'YAML', print: printYaml, lacks: ['kinds of tasks', places, 'operations on matrices', shares] },
  wfformat: { title: 'WfFormat', print: (document) => printWfFormat(document), lacks: wfLosses },
  'wfformat-1.6': { title: 'WfFormat 1.6', print: (document) => printWfFormat(document, '1.6'), lacks: wfLosses },
  dax: {
    title: 'DAX',
    print: printDax,
    lacks: [
      'kinds of tasks that are not their program',
      'ranges of processors',
      'kinds and shares of GPUs',
      named,
      others,
      'operations on matrices',
      shares,
    ],
  },
  xml: {
    title: 'job XML',
    print: printJobXml,
    lacks: ['commands', 'files', 'memory of tasks', 'GPUs of tasks', named, others, wanted],
  },
  dot: {
    title: 'DOT',
    print: printDot,
    lacks: [
      'commands',
      'files',
      'numbers of processors',
      'memory of tasks',
      'GPUs of tasks',
      named,
      others,
      'operations on matrices',
      shares,
      wanted,
    ],
  },
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
 * @throws {FormatError} what {@link getDraft} finds in the workflow, or in what became of it: MUT_WORKFLOW_OUTPUT_CONFLICT
 * for a file with several writers, which YAML and job XML cannot say; MUT_WORKFLOW_UNSUPPORTED for a name of a file
 * that WfFormat does not allow;
 * MUT_WORKFLOW_SYNTAX for job XML, which has operations on matrices only.
 */
export function convertWorkflow(document: WorkflowDocument, name: WrittenFormatName): ConvertedWorkflow {
  getDraft(document);
  const { title, print, lacks }: WrittenFormat = formats[name];
  const text = print(document);
  if (text === undefined) {
    const odd = document.tasks.find(({ matrix }) => matrix === undefined);
    throw new FormatError({
      code: 'MUT_WORKFLOW_SYNTAX',
      subject: document.subject,
      ...(odd?.place() ?? { line: 1, column: 1 }),
      found: `task ${odd?.id ?? ''}, which is not an operation on a matrix`,
      expected: `a workflow that ${title} can say`,
    });
  }
  if (name !== 'dot') getDraft(parseWorkflow(text, `${document.subject} as ${title}`));
  return {
    text,
    losses: lacks.flatMap((part) => {
      const count = parts[part](document);
      return count === 0 ? [] : [`${title} has no place for ${part}; there are ${count}`];
    }),
  };
}
