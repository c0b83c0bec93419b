import type { Reason } from '../../reasons/index.ts';

/** A character of a command, or a placeholder by its name. */
export type Atom = string | { readonly name: string };

/** What a scanner has to know of a command's placeholders. */
export interface PlaceholderNames {
  /** How a placeholder is written, such as `{}`. */
  getSymbol(name: string): string;
  /** Whether a placeholder just behind a dollar is a variable of the shell, as in `${inputs}`. */
  isParameter(name: string): boolean;
}

/** Why a command with placeholders cannot be filled in safely, whatever the values. */
export class CommandFault extends Error {
  override readonly name = 'CommandFault';

  readonly reason: Reason;

  constructor(reason: Reason) {
    super(reason.code);
    this.reason = reason;
  }
}

/**
 * The meaning of a backslash and the next character in double quotes; the next character is empty before a placeholder.
 */
export function unescaped(next: string): string {
  if (next === '\n') return '';
  return next !== '' && '"\\$`'.includes(next) ? next : `\\${next}`;
}

/** Reads atoms one after the other. */
export class AtomReader {
  readonly #atoms: readonly Atom[];
  at = 0;

  constructor(atoms: readonly Atom[]) {
    this.#atoms = atoms;
  }

  /** The atom `offset` further on; undefined behind the end. */
  peek(offset = 0): Atom | undefined {
    return this.#atoms[this.at + offset];
  }

  next(): Atom | undefined {
    return this.#atoms[this.at++];
  }

  /** The contents of backticks, without one level of backslashes, and the original text if they have no placeholder. */
  backticks(isDouble: boolean): { readonly inner: Atom[]; readonly raw: string | undefined } {
    const escapable = isDouble ? '$`\\"' : '$`\\';
    const inner: Atom[] = [];
    let raw: string | undefined = '`';
    for (let atom = this.next(); atom !== '`'; atom = this.next()) {
      if (atom === undefined) throw new CommandFault({ code: 'command-unclosed', opening: '`' });
      const escaped = atom === '\\' ? this.#getOne(escapable) : '';
      inner.push(escaped === '' ? atom : escaped);
      raw = raw === undefined || typeof atom !== 'string' ? undefined : raw + atom + escaped;
    }
    return { inner, raw: raw === undefined ? undefined : `${raw}\`` };
  }

  /** Takes the next character where it is one of these. */
  #getOne(characters: string): string {
    const next = this.peek();
    if (typeof next !== 'string' || !characters.includes(next)) return '';
    this.at += 1;
    return next;
  }

  /** The characters from here to the end of the line; undefined where a placeholder is among them. */
  line(): string | undefined {
    let line = '';
    for (let at = this.at; at < this.#atoms.length; at++) {
      const atom = this.#atoms[at];
      if (typeof atom !== 'string') return undefined;
      if (atom === '\n') break;
      line += atom;
    }
    return line;
  }

  /**
   * Whether the parentheses that have just been opened twice are closed by two that stand together, as in `$((1 + 2))`.
   */
  isArithmetic(): boolean {
    let depth = 2;
    for (let offset = 0; depth > 0; offset++) {
      const atom = this.peek(offset);
      if (atom === undefined) return false;
      if (atom === '(') depth++;
      if (atom === ')') depth--;
      if (depth === 1 && atom === ')' && this.peek(offset + 1) === ')') return true;
      if (depth === 0) return false;
    }
    return false;
  }
}
