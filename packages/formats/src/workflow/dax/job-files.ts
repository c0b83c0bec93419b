import { plural } from '@mutirao/core/shared';
import { FormatError } from '../../format-error.ts';
import { readAttribute, getNumber, findText, type XmlElement } from '../read-xml.ts';
import type { WorkflowFile } from '../workflow-document.ts';
import { isTrue, getPath, type Catalogs, type Executable } from './catalogs.ts';

/** What a job reads and what it writes; a file that it changes in place is in both. */
export interface FilesOfJob {
  readonly inputs: readonly WorkflowFile[];
  readonly outputs: readonly WorkflowFile[];
}

const links = ['input', 'output', 'inout', 'none', 'checkpoint'] as const;
type Link = (typeof links)[number];

/** Values that attributes may have. */
const values: Readonly<Record<string, readonly string[]>> = {
  transfer: ['true', 'false', 'optional'],
  dontTransfer: ['true', 'false', 'optional'],
  optional: ['true', 'false', '1', '0'],
  executable: ['true', 'false', '1', '0'],
  type: ['data', 'executable'],
};

/** Reads the files of jobs: `uses`, standard streams, and what the catalogs of the DAX add. */
export class JobFiles {
  readonly #catalogs: Catalogs;
  readonly #subject: string;
  readonly #noteNegative: (element: XmlElement) => void;
  #optionalCount = 0;
  #checkpointCount = 0;
  readonly #oddSizes: string[] = [];

  /** @param noteNegative gets each element with a size below 0. */
  constructor(catalogs: Catalogs, subject: string, noteNegative: (element: XmlElement) => void) {
    this.#catalogs = catalogs;
    this.#subject = subject;
    this.#noteNegative = noteNegative;
  }

  /**
   * @throws {FormatError} MUT_WORKFLOW_UNSUPPORTED for a value that means nothing here; MUT_WORKFLOW_SYNTAX;
   * MUT_WORKFLOW_COST
   */
  of(job: XmlElement, executable: Executable | undefined): FilesOfJob {
    const inputs = new Map<string, WorkflowFile>();
    const outputs = new Map<string, WorkflowFile>();
    const named = (name: string): XmlElement[] => job.children.filter((child) => child.name === name);
    for (const uses of named('uses')) this.#add(uses, this.#linkOf(uses), { inputs, outputs });
    for (const uses of this.#catalogs.usesOf(job))
      this.#addNeeded(uses, uses.attributes['executable'] ?? 'true', inputs);
    if (executable?.isInstalled === false) addTo(inputs, { name: executable.name, bytes: 0, home: executable.place });
    for (const name of ['stdin', 'stdout', 'stderr']) this.#refuseSecond(named(name));
    for (const stream of named('stdin')) addTo(inputs, this.#getInput(stream));
    for (const stream of [...named('stdout'), ...named('stderr')]) {
      const file = { name: readFileName(stream, this.#subject), bytes: 0 };
      if (inputs.has(file.name))
        throw this.#streamFault(
          stream,
          (shown) => `${shown}, which the job also reads`,
          'another file: this one is emptied before the program can read it',
        );
      addTo(outputs, file);
    }
    return { inputs: [...inputs.values()], outputs: [...outputs.values()] };
  }

  warnings(): string[] {
    return [
      ...(this.#optionalCount === 0
        ? []
        : [
            `${plural(this.#optionalCount, 'file')} that ${this.#optionalCount === 1 ? 'is' : 'are'} optional ` +
              'for Pegasus must be there here',
          ]),
      ...(this.#checkpointCount === 0
        ? []
        : [
            `${plural(this.#checkpointCount, 'checkpoint')} not kept: a task that runs again starts from its beginning`,
          ]),
      ...(this.#oddSizes.length === 0
        ? []
        : [`${plural(this.#oddSizes.length, 'size')} in metadata not known, the first is ${this.#oddSizes[0] ?? ''}`]),
    ];
  }

  #refuseSecond([, second]: readonly XmlElement[]): void {
    if (second === undefined) return;
    throw this.#streamFault(second, (shown) => `a second ${shown}`, `one <${second.name}> in a job`);
  }

  #add(
    uses: XmlElement,
    link: Link,
    { inputs, outputs }: { readonly inputs: Map<string, WorkflowFile>; readonly outputs: Map<string, WorkflowFile> },
  ): void {
    if (isTrue(uses.attributes['optional']) && link !== 'none') this.#optionalCount += 1;
    if (link === 'checkpoint') this.#checkpointCount += 1;
    if (link === 'input' || link === 'inout') this.#addNeeded(uses, uses.attributes['executable'] ?? 'false', inputs);
    if (link === 'output' || link === 'inout') {
      const { transfer, dontTransfer } = uses.attributes;
      addTo(outputs, {
        name: readFileName(uses, this.#subject),
        bytes: this.#getBytes(uses),
        comesHome: transfer !== 'false' && dontTransfer !== 'true',
      });
    }
  }

  /** A program that each machine has needs no bringing. */
  #addNeeded(uses: XmlElement, isExecutable: string, inputs: Map<string, WorkflowFile>): void {
    const executable = isTrue(isExecutable) ? this.#catalogs.executableOf(uses) : undefined;
    if (executable?.isInstalled === true) return;
    addTo(inputs, { ...this.#getInput(uses), ...(executable === undefined ? {} : { home: executable.place }) });
  }

  #getInput(element: XmlElement): WorkflowFile {
    const name = readFileName(element, this.#subject);
    const url = this.#catalogs.placeIn(element) ?? this.#catalogs.placeOfFile(name);
    return { name, bytes: this.#getBytes(element), ...(url === undefined ? {} : { home: getPath(url) }) };
  }

  #linkOf(uses: XmlElement): Link {
    for (const [attribute, known] of Object.entries(values)) {
      const value = uses.attributes[attribute];
      if (value !== undefined && !known.includes(value))
        throw this.#fault(uses, `${attribute}="${value}"`, `one of ${known.join(', ')}`);
    }
    const link = uses.attributes['link'];
    if (link === undefined && (isTrue(uses.attributes['executable']) || uses.attributes['type'] === 'executable'))
      return 'input';
    const found = links.find((known) => known === link);
    if (found !== undefined) return found;
    throw this.#fault(
      uses,
      link === undefined ? 'no link' : `link="${link}"`,
      `link with one of ${links.join(', ')}`,
      link === undefined ? 'MUT_WORKFLOW_SYNTAX' : 'MUT_WORKFLOW_UNSUPPORTED',
    );
  }

  /** Size as the element says it, else as the catalog of files does; 0 where it is not known. */
  #getBytes(element: XmlElement): number {
    if (element.attributes['size'] !== undefined)
      return this.#least(element, getNumber(element, 'size', this.#subject));
    const inCatalog = this.#catalogs.sizeOfFile(readFileName(element, this.#subject));
    const said = [element, ...(inCatalog === undefined ? [] : [inCatalog])]
      .flatMap(({ children }) => children)
      .find(({ name, attributes }) => name === 'metadata' && attributes['key'] === 'size');
    if (said === undefined) return 0;
    const text = findText(said).trim();
    if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return this.#least(said, Number(text));
    this.#oddSizes.push(`${JSON.stringify(text)} of ${readFileName(element, this.#subject)}`);
    return 0;
  }

  #least(element: XmlElement, bytes: number): number {
    if (bytes < 0) this.#noteNegative(element);
    return Math.max(0, bytes);
  }

  #streamFault(stream: XmlElement, found: (shown: string) => string, expected: string): FormatError {
    return new FormatError({
      code: 'MUT_WORKFLOW_UNSUPPORTED',
      subject: this.#subject,
      line: stream.line,
      column: stream.column,
      found: found(`<${stream.name} name="${readFileName(stream, this.#subject)}">`),
      expected,
    });
  }

  #fault(uses: XmlElement, found: string, expected: string, code = 'MUT_WORKFLOW_UNSUPPORTED'): FormatError {
    const name = uses.attributes['name'] ?? uses.attributes['file'] ?? '';
    return new FormatError({
      code,
      subject: this.#subject,
      line: uses.line,
      column: uses.column,
      found: `${found} of <uses name="${name}">`,
      expected,
    });
  }
}

/**
 * The name of a file: `name` since DAX 3.2, `file` before. @throws {FormatError} MUT_WORKFLOW_SYNTAX where there is
 * none, or two that differ.
 */
export function readFileName(element: XmlElement, subject: string): string {
  const { file, name } = element.attributes;
  const chosen = file ?? readAttribute(element, 'name', subject);
  if (chosen !== '' && (name === undefined || name === chosen)) return chosen;
  throw new FormatError({
    code: 'MUT_WORKFLOW_SYNTAX',
    subject,
    line: element.line,
    column: element.column,
    found:
      chosen === ''
        ? `<${element.name}> with an empty name`
        : `name="${name ?? ''}" and file="${chosen}" of <${element.name}>`,
    expected: 'the name of one file',
  });
}

/** A file that is named again is the same file: what one of the two places says of it holds. */
function addTo(files: Map<string, WorkflowFile>, file: WorkflowFile): void {
  const before = files.get(file.name);
  const comesHome = before?.comesHome === undefined ? file.comesHome : before.comesHome || file.comesHome === true;
  files.set(file.name, {
    ...file,
    ...before,
    bytes: Math.max(before?.bytes ?? 0, file.bytes),
    ...(comesHome === undefined ? {} : { comesHome }),
  });
}
