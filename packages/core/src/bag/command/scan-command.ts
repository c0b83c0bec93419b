import { AtomReader, CommandFault, unescaped, type Atom, type PlaceholderNames } from './atoms.ts';
import { roleOfNext } from './find-script.ts';
import { escapeSingle, type Piece, type Place } from './quote-value.ts';
import {
  requirePlain,
  isAttachedScript,
  noteCharacter,
  quoteAlways,
  SimpleCommand,
  findText,
  type HereDocument,
  type Word,
} from './word.ts';

const depthMax = 50;

/**
 * Finds the position of each placeholder in a shell command.
 *
 * It knows the necessary part of the shell's grammar: quotes, backslashes, substitutions, arithmetic, here-documents,
 * comments, and scripts that are words (`sh -c '...'`).
 *
 * @throws {CommandFault} if the scanner cannot decide.
 */
export function scanCommand(atoms: readonly Atom[], names: PlaceholderNames, depth = 0): Piece[] {
  if (depth > depthMax) throw new CommandFault({ code: 'command-nested-too-deep', levelsMax: depthMax });
  const pieces: Piece[] = [];
  const reader = new AtomReader(atoms);
  new ListScanner({ reader, names, pieces, depth }).scan(false);
  return pieces;
}

interface Scan {
  readonly reader: AtomReader;
  readonly names: PlaceholderNames;
  readonly pieces: Piece[];
  readonly depth: number;
}

/** Reads commands up to the end of the text or of a command substitution. */
class ListScanner {
  readonly #scan: Scan;
  readonly #reader: AtomReader;
  #command = new SimpleCommand();
  #word: Word | undefined;
  /** What has been opened and not closed. */
  #open: ('(' | '((' | 'case')[] = [];
  #documents: HereDocument[] = [];
  /** The next word is where a redirection leads. */
  #isTarget = false;
  /** The next word is the delimiter of a here-document. */
  #delimiterOf: { readonly stripsTabs: boolean } | undefined;
  /** The last atoms were a variable without braces. */
  #isBehindName = false;

  constructor(scan: Scan) {
    this.#scan = scan;
    this.#reader = scan.reader;
  }

  /** @param isSubstitution whether a `)` of its own ends it. */
  scan(isSubstitution: boolean): void {
    for (let atom = this.#reader.next(); atom !== undefined; atom = this.#reader.next()) {
      if (atom === ')') this.#endWord();
      if (atom === ')' && isSubstitution && this.#open.length === 0) {
        this.#endCommand();
        this.#emit(')');
        return;
      }
      if (typeof atom === 'string') this.#take(atom);
      else this.#placeholder(atom.name);
    }
    this.#endCommand();
    if (isSubstitution) throw unclosed('$(');
  }

  #take(character: string): void {
    this.#isBehindName = false;
    switch (character) {
      case '\\':
        return this.#backslash();
      case "'":
        return this.#single();
      case '"':
        return this.#double();
      case '`':
        this.#beginWord().atoms = undefined;
        return this.#substitution(false);
      case '$':
        return this.#dollarInWord();
      case '\n':
        return this.#newline();
      case '(':
      case ')':
        return this.#parenthesis(character);
      case '<':
      case '>':
        return this.#redirection(character);
      default:
        return this.#ordinary(character);
    }
  }

  #ordinary(character: string): void {
    if (character === '#' && this.#word === undefined) return this.#comment();
    switch (character) {
      case ' ':
      case '\t':
        this.#endWord();
        break;
      case ';':
      case '&':
      case '|':
        this.#endCommand();
        break;
      default:
        noteCharacter(this.#beginWord(), character);
    }
    this.#emit(character);
  }

  #placeholder(name: string): void {
    const isFirst = this.#word === undefined;
    const word = this.#beginWord();
    const isInside = this.#open.includes('((');
    this.#slot(
      name,
      isInside
        ? { kind: 'arithmetic' }
        : { kind: 'word', bare: this.#command.barenessOf(word, isFirst, this.#isBehindName) },
    );
    word.atoms?.push({ name });
    this.#isBehindName = false;
  }

  #backslash(): void {
    const next = this.#reader.next();
    if (next === '\n') return this.#emit('\\\n');
    const word = this.#beginWord();
    word.isQuoted = true;
    const text = next === undefined ? '' : typeof next === 'string' ? next : this.#scan.names.getSymbol(next.name);
    this.#emit(typeof next === 'string' ? `\\${next}` : next === undefined ? '\\' : `'${text}'`);
    word.atoms?.push(...text);
  }

  #single(): void {
    const word = this.#beginWord();
    word.isQuoted = true;
    this.#emit("'");
    for (let atom = this.#reader.next(); atom !== "'"; atom = this.#reader.next()) {
      if (atom === undefined) throw unclosed("'");
      if (typeof atom === 'string') this.#emit(atom);
      else this.#slot(atom.name, { kind: 'single' });
      word.atoms?.push(atom);
    }
    this.#emit("'");
  }

  #double(): void {
    const word = this.#beginWord();
    word.isQuoted = true;
    this.#emit('"');
    this.#isBehindName = false;
    for (let atom = this.#reader.next(); atom !== '"'; atom = this.#reader.next()) {
      if (atom === undefined) throw unclosed('"');
      this.#insideDouble(atom, word);
    }
    this.#emit('"');
    this.#isBehindName = false;
  }

  #insideDouble(atom: Atom, word: Word): void {
    const isBehindName = this.#isBehindName;
    this.#isBehindName = false;
    if (typeof atom !== 'string') {
      this.#slot(atom.name, { kind: 'double', isBehindName });
      word.atoms?.push(atom);
    } else if (atom === '\\') {
      word.atoms?.push(...unescaped(this.#escaped()));
    } else if (atom === '$' || atom === '`') {
      if (this.#expansion(atom, true)) word.atoms = undefined;
      else word.atoms?.push('$');
    } else {
      this.#emit(atom);
      word.atoms?.push(atom);
    }
  }

  /** A backslash in double quotes or a here-document, and the next character; before a placeholder it is itself. */
  #escaped(): string {
    const next = this.#reader.peek();
    if (typeof next !== 'string') {
      this.#emit('\\\\');
      return '';
    }
    this.#reader.next();
    this.#emit(`\\${next}`);
    return next;
  }

  #dollarInWord(): void {
    const word = this.#beginWord();
    const next = this.#reader.peek();
    if (next === "'") return this.#ansi(word);
    if (next === '"') {
      word.atoms = undefined;
      return this.#emit('$');
    }
    if (next === '[') {
      word.atoms = undefined;
      this.#reader.next();
      return this.#arithmetic('$[', ['[', ']']);
    }
    if (this.#expansion('$', false)) word.atoms = undefined;
    else word.atoms?.push('$');
  }

  /** Bash takes `$'...'` for quotes with escapes, other shells for a dollar and single quotes. */
  #ansi(word: Word): void {
    word.atoms = undefined;
    this.#reader.next();
    this.#emit("$'");
    for (let atom = this.#reader.next(); atom !== "'"; atom = this.#reader.next()) {
      if (atom === undefined) throw unclosed("$'");
      if (typeof atom !== 'string') throw new CommandFault({ code: 'command-ansi-placeholder' });
      if (atom === '\\' && this.#reader.peek() === "'") throw new CommandFault({ code: 'command-ansi-escape' });
      this.#emit(atom);
      if (atom === '\\' && this.#reader.peek() === '\\') this.#emit(String(this.#reader.next()));
    }
    this.#emit("'");
  }

  /** What a dollar or a backtick begins. Returns whether that is more than a dollar. */
  #expansion(atom: '$' | '`', isDouble: boolean): boolean {
    if (atom === '`') {
      this.#substitution(isDouble);
      return true;
    }
    const next = this.#reader.peek();
    if (next === undefined) this.#emit('$');
    else if (typeof next !== 'string') return this.#dollarPlaceholder(next.name);
    else if (next === '(') return this.#parentheses();
    else if (next === '{') return this.#parameter(isDouble);
    else return this.#variable(next);
    return false;
  }

  #dollarPlaceholder(name: string): boolean {
    const { names } = this.#scan;
    if (names.isParameter(name)) {
      this.#reader.next();
      this.#emit(`$${names.getSymbol(name)}`);
      return true;
    }
    this.#emit('\\$');
    return false;
  }

  #variable(first: string): boolean {
    if (!/^[A-Za-z0-9_@*#?$!-]$/.test(first)) {
      this.#emit('$');
      return false;
    }
    let name = String(this.#reader.next());
    if (/[A-Za-z_]/.test(name))
      for (let next = this.#reader.peek(); typeof next === 'string' && /^\w$/.test(next); next = this.#reader.peek())
        name += String(this.#reader.next());
    this.#emit(`$${name}`);
    this.#isBehindName = true;
    return true;
  }

  /** `$(command)` or `$((arithmetic))`. */
  #parentheses(): boolean {
    this.#reader.next();
    if (this.#reader.peek() !== '(') {
      this.#emit('$(');
      this.#nested().scan(true);
      return true;
    }
    this.#reader.at += 1;
    if (this.#reader.isArithmetic()) {
      this.#arithmetic('$((', ['(', ')']);
      return true;
    }
    this.#reader.at -= 1;
    this.#emit('$(');
    this.#nested().scan(true);
    return true;
  }

  /** Behind what opens it: up to where as many are closed. */
  #arithmetic(opening: string, [open, close]: readonly [string, string]): void {
    this.#emit(opening);
    for (let depth = opening.length - 1; depth > 0; ) {
      const atom = this.#reader.next();
      if (atom === undefined) throw unclosed(opening);
      if (atom === open) depth += 1;
      if (atom === close) depth -= 1;
      this.#within(atom, { kind: 'arithmetic' });
    }
    this.#isBehindName = false;
  }

  /** `${name...}`: what stands behind the name is a word or a pattern, in which shells differ about quotes. */
  #parameter(isDouble: boolean): boolean {
    const place: Place = { kind: 'plain-only', where: 'parameter' };
    this.#reader.next();
    this.#emit('${');
    let isQuoted = false;
    for (;;) {
      const atom = this.#reader.next();
      if (atom === undefined) throw unclosed('${');
      if (isDouble && typeof atom === 'string' && (isQuoted ? "'{}" : "'").includes(atom))
        throw new CommandFault({ code: 'command-parameter-quoted', character: atom });
      this.#insideParameter(atom, place, isQuoted);
      if (atom === '"') isQuoted = !isQuoted;
      if (atom === '}' && !isQuoted) break;
    }
    this.#isBehindName = false;
    return true;
  }

  #insideParameter(atom: Atom, place: Place, isQuoted: boolean): void {
    if (atom === "'" && !isQuoted) this.#skipSingle(place);
    else if (atom === '\\' && typeof this.#reader.peek() === 'string') this.#emit(`\\${String(this.#reader.next())}`);
    else this.#within(atom, place);
  }

  #skipSingle(place: Place): void {
    this.#emit("'");
    for (let atom = this.#reader.next(); atom !== "'"; atom = this.#reader.next()) {
      if (atom === undefined) throw unclosed("'");
      if (typeof atom === 'string') this.#emit(atom);
      else this.#slot(atom.name, place);
    }
    this.#emit("'");
  }

  #within(atom: Atom, place: Place): void {
    if (typeof atom !== 'string') this.#slot(atom.name, place);
    else if (atom === '$' || atom === '`') this.#expansion(atom, false);
    else this.#emit(atom);
  }

  /**
   * Backticks: their contents lose one level of backslashes. With a placeholder they are written as `$(...)`, which
   * needs no double escapes.
   */
  #substitution(isDouble: boolean): void {
    const { inner, raw } = this.#reader.backticks(isDouble);
    if (raw !== undefined) return this.#emit(raw);
    this.#emit(inner[0] === '(' ? '$( ' : '$(');
    this.#scan.pieces.push(...scanCommand(inner, this.#scan.names, this.#scan.depth + 1));
    this.#emit('\n)');
  }

  #comment(): void {
    this.#emit('#');
    for (let next = this.#reader.peek(); next !== '\n' && next !== undefined; next = this.#reader.peek()) {
      if (typeof next === 'string') this.#emit(next);
      this.#reader.next();
    }
  }

  #parenthesis(character: '(' | ')'): void {
    const isBetweenWords = this.#word === undefined;
    this.#endCommand();
    this.#emit(character);
    if (character === '(') {
      const isDouble = isBetweenWords && this.#reader.peek() === '(';
      if (isDouble) this.#emit(String(this.#reader.next()));
      this.#open.push(isDouble ? '((' : '(');
    } else if (this.#open.at(-1) === '((') {
      this.#open[this.#open.length - 1] = '(';
    } else if (this.#open.at(-1) === '(') {
      this.#open.pop();
    }
  }

  #redirection(character: '<' | '>'): void {
    // A number just before it is that of a descriptor, which a value never is.
    if (this.#word !== undefined) quoteAlways(this.#scan.pieces, this.#word.start);
    if (/^\d+$/.test(findText(this.#word) ?? '')) this.#word = undefined;
    this.#endWord();
    this.#emit(character);
    this.#isTarget = true;
    const next = this.#reader.peek();
    if (typeof next === 'string' && (character === '>' ? '&|>' : '&').includes(next))
      return this.#emit(String(this.#reader.next()));
    if (character === '<' && next === '<' && !this.#open.includes('((')) this.#hereDocument();
  }

  /** Behind the first `<` of `<<`, `<<-` or `<<<`. */
  #hereDocument(): void {
    this.#emit(String(this.#reader.next()));
    if (this.#reader.peek() === '<') return this.#emit(String(this.#reader.next()));
    const stripsTabs = this.#reader.peek() === '-';
    this.#isTarget = false;
    if (stripsTabs) this.#emit(String(this.#reader.next()));
    this.#delimiterOf = { stripsTabs };
  }

  #newline(): void {
    this.#endCommand();
    this.#emit('\n');
    for (const document of this.#documents.splice(0)) this.#document(document);
  }

  #document(document: HereDocument): void {
    const { delimiter, stripsTabs, isQuoted } = document;
    for (;;) {
      const line = this.#reader.line();
      if (line !== undefined && (stripsTabs ? line.replace(/^\t+/, '') : line) === delimiter) break;
      for (let atom = this.#reader.next(); atom !== undefined; atom = this.#reader.next()) {
        if (isQuoted) this.#insideText(atom, document);
        else this.#insideDocument(atom, document);
        if (atom === '\n') break;
      }
      if (this.#reader.peek() === undefined) break;
    }
    this.#restOfLine();
    this.#isBehindName = false;
  }

  #restOfLine(): void {
    for (let next = this.#reader.peek(); typeof next === 'string'; next = this.#reader.peek()) {
      this.#emit(String(this.#reader.next()));
      if (next === '\n') return;
    }
  }

  #insideText(atom: Atom, { delimiter, stripsTabs }: HereDocument): void {
    if (typeof atom === 'string') this.#emit(atom);
    else this.#slot(atom.name, { kind: 'here-text', delimiter, stripsTabs });
  }

  #insideDocument(atom: Atom, { delimiter, stripsTabs }: HereDocument): void {
    const isBehindName = this.#isBehindName;
    this.#isBehindName = false;
    if (typeof atom !== 'string') this.#slot(atom.name, { kind: 'here-document', delimiter, stripsTabs, isBehindName });
    else if (atom === '\\') this.#escaped();
    else if (atom === '$' || atom === '`') this.#expansion(atom, false);
    else this.#emit(atom);
  }

  #beginWord(): Word {
    return (this.#word ??= {
      start: this.#scan.pieces.length,
      atoms: [],
      hasPattern: false,
      isQuoted: false,
      isAssignment: false,
    });
  }

  #endWord(): void {
    const word = this.#word;
    this.#word = undefined;
    this.#isBehindName = false;
    if (word === undefined) return;
    if (this.#delimiterOf !== undefined) return this.#endDelimiter(word, this.#delimiterOf.stripsTabs);
    const isTarget = this.#isTarget;
    this.#isTarget = false;
    if (isTarget) return;
    if (this.#scan.pieces.slice(word.start).some((piece) => typeof piece !== 'string')) this.#endFilledWord(word);
    const keyword = this.#command.add(word);
    if (keyword === 'case') this.#open.push('case');
    if (keyword === 'esac' && this.#open.at(-1) === 'case') this.#open.pop();
  }

  /**
   * A word with a placeholder: its quotes are those of the outer shell, and where it is a script, the inner shell's
   * count too.
   */
  #endFilledWord(word: Word): void {
    const { pieces, names, depth } = this.#scan;
    const role = isAttachedScript(word) ? 'part of a script' : roleOfNext(this.#command.words);
    if (role === 'argument' || (role === 'script' && word.atoms?.length === 1)) return;
    if (role === 'part of a script' || word.atoms === undefined) return requirePlain(pieces, word.start, 'script');
    const inner = scanCommand(word.atoms, names, depth + 1);
    pieces.length = word.start;
    pieces.push(
      "'",
      ...inner.map((piece) =>
        typeof piece === 'string' ? escapeSingle(piece) : { ...piece, scripts: piece.scripts + 1 },
      ),
      "'",
    );
  }

  #endDelimiter({ atoms, isQuoted }: Word, stripsTabs: boolean): void {
    this.#delimiterOf = undefined;
    if (atoms?.every((atom) => typeof atom === 'string') !== true)
      throw new CommandFault({ code: 'command-delimiter-filled' });
    this.#documents.push({ delimiter: atoms.join(''), stripsTabs, isQuoted });
  }

  #endCommand(): void {
    this.#endWord();
    this.#isTarget = false;
    this.#command = new SimpleCommand();
  }

  #nested(): ListScanner {
    if (this.#scan.depth >= depthMax) throw new CommandFault({ code: 'command-nested-too-deep', levelsMax: depthMax });
    return new ListScanner({ ...this.#scan, depth: this.#scan.depth + 1 });
  }

  #slot(name: string, place: Place): void {
    this.#scan.pieces.push({ name, place, scripts: 0 });
  }

  #emit(text: string): void {
    this.#scan.pieces.push(text);
  }
}

function unclosed(opening: string): CommandFault {
  return new CommandFault({ code: 'command-unclosed', opening });
}
