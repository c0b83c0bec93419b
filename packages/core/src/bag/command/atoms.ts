/** A character of a command, or a placeholder by its name. */
export type Atom = string | { readonly name: string };

/** What a scanner has to know of a command's placeholders. */
export interface PlaceholderNames {
  /** How a placeholder is written, such as `{}`. */
  symbolOf(name: string): string;
  /** Whether a placeholder just behind a dollar is a variable of the shell, as in `${inputs}`. */
  isParameter(name: string): boolean;
}

/** Why a command with placeholders cannot be filled in safely, whatever the values. */
export class CommandFault extends Error {
  override readonly name = 'CommandFault';
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

  /** What stands in backticks, without one level of backslashes, and as it was written where there is no placeholder in it. */
  backticks(isDouble: boolean): { readonly inner: Atom[]; readonly raw: string | undefined } {
    const escapable = isDouble ? '$`\\"' : '$`\\';
    const inner: Atom[] = [];
    let raw: string | undefined = '`';
    for (let atom = this.next(); atom !== '`'; atom = this.next()) {
      if (atom === undefined) throw new CommandFault('a ` without its end');
      const next = this.peek();
      if (typeof atom !== 'string') raw = undefined;
      const isEscape = atom === '\\' && typeof next === 'string' && escapable.includes(next);
      if (isEscape) this.at += 1;
      inner.push(isEscape ? next : atom);
      raw &&= raw + (isEscape ? `\\${next}` : String(atom));
    }
    return { inner, raw: raw && `${raw}\`` };
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

  /** Whether the parentheses that have just been opened twice are closed by two that stand together, as in `$((1 + 2))`. */
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
