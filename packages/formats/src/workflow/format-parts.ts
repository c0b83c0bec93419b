import { findNearestWord } from '@mutirao/core/shared';
import { FormatError } from '../format-error.ts';
import type { TextPlace } from './workflow-document.ts';

/** What a reader makes of a part of a file. */
export type PartUse =
  /** It decides what runs. */
  | 'read'
  /** It has no bearing on what runs, and nothing is said. */
  | 'unused'
  /** It is not used, and a warning says so. */
  | 'noted'
  /** A file that has it is refused. */
  | 'refused';

/** Parts of a format that a reader treats alike. */
export interface FormatPart {
  /** Paths of elements, attributes or fields, as the table in the documentation shows them. */
  readonly paths: readonly string[];
  /** Versions of the format that define them. */
  readonly versions: string;
  readonly use: PartUse;
  /** What becomes of them, without a full stop. */
  readonly becomes: string;
}

/** Makes a row of a list of parts; the paths are parted by blanks. */
export function part(paths: string, versions: string, use: PartUse, becomes: string): FormatPart {
  return { paths: paths.split(' '), versions, use, becomes };
}

/** Looks at each part of a file: what is not in the list is refused by its name, and so is what the list refuses. */
export class PartChecker {
  readonly #uses = new Map<string, FormatPart>();
  readonly #noted = new Map<string, { readonly row: FormatPart; count: number }>();
  readonly #subject: string;

  constructor(parts: readonly FormatPart[], subject: string) {
    for (const row of parts) for (const path of row.paths) this.#uses.set(path, row);
    this.#subject = subject;
  }

  /**
   * Looks at one part.
   *
   * @param name what the file calls it, as a message shows it.
   * @throws {FormatError} MUT_WORKFLOW_UNKNOWN for one that is not in the list; MUT_WORKFLOW_UNSUPPORTED for one that
   * is refused.
   */
  check(path: string, name: string, place: () => TextPlace): void {
    const row = this.#uses.get(path) ?? this.#uses.get(path.replace(/[^.]*$/, '*'));
    if (row === undefined) throw this.#unknown(path, name, place());
    if (row.use === 'refused')
      throw new FormatError({
        code: 'MUT_WORKFLOW_UNSUPPORTED',
        subject: this.#subject,
        ...placeOf(place()),
        found: name,
        expected: row.becomes,
      });
    if (row.use === 'noted') this.#noted.set(path, { row, count: (this.#noted.get(path)?.count ?? 0) + 1 });
  }

  /** A sentence for each kind of part that was found and is not used. */
  warnings(): string[] {
    return [...this.#noted].map(
      ([path, { row, count }]) => `${path} is not used (${count} ${count === 1 ? 'time' : 'times'}): ${row.becomes}`,
    );
  }

  #unknown(path: string, name: string, place: TextPlace): FormatError {
    const [, holder = '', last = ''] = /^(.*?)([^/@.]*)$/.exec(path) ?? [];
    const beside = [...this.#uses.keys()]
      .filter((known) => known.startsWith(holder) && !/[/@.]/.test(known.slice(holder.length)))
      .map((known) => known.slice(holder.length).replace('[]', ''));
    return new FormatError({
      code: 'MUT_WORKFLOW_UNKNOWN',
      subject: this.#subject,
      ...placeOf(place),
      found: name,
      expected: beside.length === 0 ? 'nothing there' : `one of ${[...new Set(beside)].join(', ')}`,
      nearest: findNearestWord(last, beside),
    });
  }
}

function placeOf({ line, column }: TextPlace): TextPlace {
  return { line, column };
}
