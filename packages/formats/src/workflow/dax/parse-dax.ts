import { wholeDevice } from '@mutirao/core/resources';
import { plural } from '@mutirao/core/shared';
import { FormatError } from '../../format-error.ts';
import { readAttribute, getNumber, readXml, type XmlElement } from '../read-xml.ts';
import {
  distinctEdges,
  referenceSpeed,
  type DocumentEdge,
  type DocumentTask,
  type WorkflowDocument,
} from '../workflow-document.ts';
import { Catalogs } from './catalogs.ts';
import { checkDax } from './check-dax.ts';
import { getCommand } from './job-command.ts';
import { JobFiles } from './job-files.ts';
import { ProfileReader, type JobProfiles } from './profiles.ts';

/**
 * Reads a workflow of Pegasus (DAX): a task for each job, with its command, files, run time, processors and memory, and
 * an edge for each parent of a child.
 *
 * Instances that were made of profiled runs hold times and sizes below 0, which count as 0, and files that several jobs
 * write; warnings say so.
 *
 * @throws {FormatError} MUT_WORKFLOW_SYNTAX; MUT_WORKFLOW_VERSION; MUT_WORKFLOW_UNKNOWN for parts that the reader does
 * not know; MUT_WORKFLOW_UNSUPPORTED for parts that cannot be run, such as a workflow within the workflow;
 * MUT_WORKFLOW_COST for a malformed number.
 */
export function parseDax(text: string, subject: string): WorkflowDocument {
  const root = readXml(text, subject);
  const warnings = checkDax(root, subject);
  const reader = new JobReader(root, subject);
  const named = (name: string): XmlElement[] => root.children.filter((child) => child.name === name);
  const tasks = named('job').map((job) => reader.read(job));
  const ids = new Set(tasks.map(({ id }) => id));
  const edges = named('child').flatMap((child): DocumentEdge[] => {
    const to = readAttribute(child, 'ref', subject);
    // Edges from a parent to a job that does not exist are found with all others.
    if (child.children.length === 0 && !ids.has(to)) throw unknownChild(child, to, subject);
    return child.children.map((parent) => ({
      from: readAttribute(parent, 'ref', subject),
      to,
      place: () => parent,
    }));
  });
  const shared = findShared(tasks);
  return {
    name: root.attributes['name'] ?? '',
    subject,
    tasks,
    edges: distinctEdges(edges),
    hasManyWriters: true,
    warnings: [
      ...reader.warnings(),
      ...(shared.length === 0
        ? []
        : [`${plural(shared.length, 'file')} with several writers, the first is ${shared[0] as string}`]),
      ...warnings,
    ],
  };
}

function unknownChild({ line, column }: XmlElement, id: string, subject: string): FormatError {
  return new FormatError({
    code: 'MUT_WORKFLOW_DANGLING_EDGE',
    subject,
    line,
    column,
    found: `<child ref="${id}">`,
    expected: 'the id of a job',
  });
}

class JobReader {
  readonly #catalogs: Catalogs;
  readonly #profiles: ProfileReader;
  readonly #files: JobFiles;
  readonly #subject: string;
  readonly #negative: string[] = [];

  constructor(root: XmlElement, subject: string) {
    this.#subject = subject;
    this.#catalogs = new Catalogs(root, subject);
    this.#profiles = new ProfileReader(subject);
    this.#files = new JobFiles(this.#catalogs, subject, (element) => this.#negative.push(`line ${element.line}`));
  }

  read(job: XmlElement): DocumentTask {
    const executable = this.#catalogs.executableOf(job);
    const profiles = this.#profiles.read([
      ...(executable?.profiles ?? []),
      ...job.children.filter(({ name }) => name === 'profile'),
    ]);
    const { inputs, outputs } = this.#files.of(job, executable);
    const width = Math.max(1, Math.ceil(profiles.processors ?? this.#readCores(job)));
    return {
      id: readAttribute(job, 'id', this.#subject),
      kind: job.attributes['name'] ?? '',
      work: this.#findSeconds(job, profiles) * referenceSpeed,
      exchange: 0,
      widthMin: width,
      widthMax: width,
      ...(profiles.memory === undefined || profiles.memory === 0 ? {} : { memory: profiles.memory }),
      ...(profiles.gpus === undefined || profiles.gpus === 0 ? {} : { gpus: { gpus: profiles.gpus * wholeDevice } }),
      command: getCommand(job, { executable, profiles, inputs, subject: this.#subject }),
      inputs,
      outputs,
      place: () => job,
    };
  }

  warnings(): string[] {
    const [first] = this.#negative;
    return [
      ...(first === undefined
        ? []
        : [`${plural(this.#negative.length, 'number')} below 0 count as 0, the first at ${first}`]),
      ...this.#files.warnings(),
      ...this.#catalogs.warnings(),
      ...this.#profiles.warnings(),
    ];
  }

  #readCores(job: XmlElement): number {
    const cores = getNumber(job, 'cores', this.#subject, '1');
    if (cores >= 0) return cores;
    throw new FormatError({
      code: 'MUT_WORKFLOW_WIDTH',
      subject: this.#subject,
      line: job.line,
      column: job.column,
      found: `cores="${job.attributes['cores'] ?? ''}"`,
      expected: 'a number of 0 or more',
    });
  }

  /** Run time; 0 where it is not known. */
  #findSeconds(job: XmlElement, { seconds }: JobProfiles): number {
    const said = job.attributes['runtime'];
    if (seconds !== undefined || said === undefined) return seconds ?? 0;
    const value = getNumber(job, 'runtime', this.#subject);
    if (value < 0) this.#negative.push(`line ${job.line}`);
    return Math.max(0, value);
  }
}

/** Files that more than one task writes. */
function findShared(tasks: readonly DocumentTask[]): string[] {
  const writers = new Map<string, number>();
  for (const { outputs } of tasks) for (const { name } of outputs) writers.set(name, (writers.get(name) ?? 0) + 1);
  return [...writers].flatMap(([name, count]) => (count > 1 ? [name] : []));
}
