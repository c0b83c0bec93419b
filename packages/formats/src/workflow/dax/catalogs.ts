import { FormatError } from '../../format-error.ts';
import { readAttribute, type XmlElement } from '../read-xml.ts';

/** A program of the catalog that a DAX brings. */
export interface Executable {
  readonly name: string;
  /** Whether each machine has it; else it is brought there. */
  readonly isInstalled: boolean;
  /** A path. */
  readonly place: string;
  readonly profiles: readonly XmlElement[];
}

/** The files and programs that a DAX says the places of. */
export class Catalogs {
  readonly #files: ReadonlyMap<string, XmlElement>;
  readonly #executables: ReadonlyMap<string, XmlElement[]>;
  /** Executables of all namespaces and versions. */
  readonly #sameName: ReadonlyMap<string, XmlElement[]>;
  readonly #transformations: ReadonlyMap<string, XmlElement>;
  readonly #several = new Map<string, string>();
  readonly #subject: string;

  constructor({ children }: XmlElement, subject: string) {
    const named = (name: string): XmlElement[] => children.filter((child) => child.name === name);
    this.#subject = subject;
    this.#files = mergeSame(named('file'), (file) => readAttribute(file, 'name', subject));
    this.#executables = Map.groupBy(named('executable'), getKey);
    this.#sameName = Map.groupBy(named('executable'), (each) => readAttribute(each, 'name', subject));
    this.#transformations = mergeSame(named('transformation'), getKey);
  }

  /** Where a file is at home; undefined where that is not said. */
  placeOfFile(name: string): string | undefined {
    const file = this.#files.get(name);
    return file === undefined ? undefined : this.placeIn(file);
  }

  /** Size of a file in bytes; undefined where that is not said. */
  sizeOfFile(name: string): XmlElement | undefined {
    return this.#files.get(name);
  }

  /** What a job needs in addition to its own program, according to a `transformation`. */
  usesOf(job: XmlElement): readonly XmlElement[] {
    return this.#transformations.get(getKey(job))?.children.filter(({ name }) => name === 'uses') ?? [];
  }

  /**
   * The program that an element names; undefined where the file has none of it. @throws {FormatError}
   * MUT_WORKFLOW_SYNTAX for one without a place; MUT_WORKFLOW_UNSUPPORTED where the file has only other versions of it.
   */
  executableOf(element: XmlElement): Executable | undefined {
    const found = this.#executables.get(getKey(element));
    if (found === undefined) this.#refuseOther(element);
    const chosen =
      found?.find(
        ({ attributes }) => (attributes['arch'] ?? 'x86_64') === 'x86_64' && (attributes['os'] ?? 'linux') === 'linux',
      ) ?? found?.[0];
    if (chosen === undefined) return undefined;
    const name = readAttribute(chosen, 'name', this.#subject);
    const place = this.placeIn(chosen);
    if (place === undefined)
      throw new FormatError({
        code: 'MUT_WORKFLOW_SYNTAX',
        subject: this.#subject,
        line: chosen.line,
        column: chosen.column,
        found: `the executable ${name} without a place`,
        expected: '<pfn url="...">',
      });
    const pfn = choosePlace(chosen);
    const profiles = [...chosen.children, ...(pfn?.children ?? [])].filter((child) => child.name === 'profile');
    return { name, isInstalled: !isFalse(chosen.attributes['installed']), place: getPath(place), profiles };
  }

  /** What PATH has under that name would be a third program. */
  #refuseOther(element: XmlElement): void {
    const { name = '' } = element.attributes;
    const [other] = this.#sameName.get(name) ?? [];
    if (other === undefined) return;
    throw new FormatError({
      code: 'MUT_WORKFLOW_UNSUPPORTED',
      subject: this.#subject,
      line: element.line,
      column: element.column,
      found: `the program ${showKey(element)}, of which the file has only ${showKey(other)}`,
      expected: 'an executable with the same namespace, name and version',
    });
  }

  /** Of several places of an element, that of the site `local`, else the first. */
  placeIn(element: XmlElement): string | undefined {
    const places = element.children.filter(({ name }) => name === 'pfn');
    const chosen = choosePlace(element);
    if (chosen === undefined) return undefined;
    const url = readAttribute(chosen, 'url', this.#subject);
    if (new Set(places.map((place) => place.attributes['url'])).size > 1)
      this.#several.set(element.attributes['name'] ?? '', `${url} of the site ${chosen.attributes['site'] ?? 'local'}`);
    return url;
  }

  /** A sentence for each file or program that has several places. */
  warnings(): string[] {
    return [...this.#several].map(([name, place]) => `${name} has several places; used is ${place}`);
  }
}

function choosePlace({ children }: XmlElement): XmlElement | undefined {
  const places = children.filter(({ name }) => name === 'pfn');
  return places.find(({ attributes }) => (attributes['site'] ?? 'local') === 'local') ?? places[0];
}

function getKey({ attributes: { namespace = '', name = '', version = '' } }: XmlElement): string {
  return JSON.stringify([namespace, name, version]);
}

/** As Pegasus writes it: `namespace::name:version`. */
function showKey({ attributes: { namespace = '', name = '', version = '' } }: XmlElement): string {
  return `${namespace === '' ? '' : `${namespace}::`}${name}${version === '' ? '' : `:${version}`}`;
}

/** Elements that stand for the same thing, as one with the parts of all. */
function mergeSame(elements: readonly XmlElement[], keyOf: (element: XmlElement) => string): Map<string, XmlElement> {
  const merged = new Map<string, XmlElement>();
  for (const element of elements) {
    const key = keyOf(element);
    const first = merged.get(key);
    const children = [...(first?.children ?? []), ...element.children];
    merged.set(key, { ...(first ?? element), children });
  }
  return merged;
}

/** The path in a URL of a file; other URLs as they are. */
export function getPath(url: string): string {
  const [, path] = /^file:(?:\/\/(?:localhost)?)?(\/.*)$/.exec(url) ?? [];
  if (path === undefined) return url;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Whether an attribute of the type xs:boolean says no. */
export function isFalse(value: string | undefined): boolean {
  return value === 'false' || value === '0';
}

/** Whether an attribute of the type xs:boolean says yes. */
export function isTrue(value: string | undefined): boolean {
  return value === 'true' || value === '1';
}
