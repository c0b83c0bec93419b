// Where a planted bug stands: a file, the declaration that encloses it, and a sequence of tokens. Blanks, line ends and
// the commas and bars that a
// formatter adds when it breaks a line do not count, so that formatting leaves every anchor where it was.
import ts from 'typescript';

/** A stretch of a text: from `start` up to before `end`, in UTF-16 units. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

export interface Token extends Place {
  readonly text: string;
}

/** A declaration by the names around it, as in `Relay.greet`. */
export interface SymbolPlace extends Place {
  readonly symbol: string;
}

export interface Anchor {
  readonly find: string;
  readonly symbol?: string;
}

export interface PlantedBug extends Anchor {
  readonly file: string;
  readonly replace: string;
  readonly layer: string;
  readonly tests: readonly string[];
}

/** Old names and paths, and what they are now. */
export interface Renames {
  readonly identifiers?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

export interface Source {
  readonly path: string;
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly symbols: readonly SymbolPlace[];
}

const tokenPattern = /[\p{L}_$][\p{L}\p{N}_$]*|\p{N}[\p{L}\p{N}_.]*|\S/gu;
const closers = new Set([')', ']', '}']);

/**
 * All tokens of a text, words inside strings and comments among them, without those that a formatter adds by itself.
 */
export function listTokens(text: string): Token[] {
  const tokens = Array.from(text.matchAll(tokenPattern), (match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
  return tokens.filter(({ text: token }, at) => {
    if (token === ',') return !closers.has(tokens[at + 1]?.text ?? '');
    if (token === '|') return !['=', ':', '('].includes(tokens[at - 1]?.text ?? '');
    return true;
  });
}

/** Where `wanted` occurs in `tokens`. */
function findSequence(tokens: readonly Token[], wanted: readonly Token[]): Place[] {
  return tokens.flatMap((first, at) => {
    const last = tokens[at + wanted.length - 1];
    const isThere = last !== undefined && wanted.every(({ text }, offset) => tokens[at + offset]?.text === text);
    return isThere ? [{ start: first.start, end: last.end }] : [];
  });
}

const hasBody = (node: ts.Node): boolean =>
  ts.isFunctionLike(node) || ts.isClassLike(node) || ts.isModuleDeclaration(node);

const isNamedByItself = (node: ts.Node): node is ts.DeclarationStatement =>
  ts.isFunctionLike(node) ||
  ts.isClassLike(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isEnumDeclaration(node);

const holdsValue = (node: ts.Node): node is ts.VariableDeclaration | ts.PropertyAssignment | ts.PropertyDeclaration =>
  ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node) || ts.isPropertyDeclaration(node);

/**
 * The name under which a node is a part of a symbol, if it is one: of a local value only where that is a function or a
 * class.
 */
function nameOf(node: ts.Node): string | undefined {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  if (!holdsValue(node)) return isNamedByItself(node) ? node.name?.getText() : undefined;
  const isTopLevel = ts.isVariableDeclaration(node) && ts.isSourceFile(node.parent.parent.parent);
  return isTopLevel || (node.initializer !== undefined && hasBody(node.initializer)) ? node.name.getText() : undefined;
}

/** All declarations that may enclose a bug, outer ones first. */
export function listSymbols(path: string, text: string): SymbolPlace[] {
  const found: SymbolPlace[] = [];
  const visit = (node: ts.Node, outer: string): void => {
    const name = nameOf(node);
    const symbol = name === undefined ? outer : outer === '' ? name : `${outer}.${name}`;
    if (name !== undefined) found.push({ symbol, start: node.getStart(), end: node.getEnd() });
    ts.forEachChild(node, (child) => {
      visit(child, symbol);
    });
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true), '');
  return found;
}

/** The innermost declaration around a place of a file; empty outside of any. */
export function enclosingSymbol(symbols: readonly SymbolPlace[], { start, end }: Place): string {
  return symbols.filter((symbol) => symbol.start <= start && end <= symbol.end).at(-1)?.symbol ?? '';
}

/** A source file, read once for all of its bugs. */
export function readSource(path: string, text: string): Source {
  let tokens: Token[] | undefined;
  let symbols: SymbolPlace[] | undefined;
  return {
    path,
    text,
    get tokens() {
      return (tokens ??= listTokens(text));
    },
    get symbols() {
      return (symbols ??= listSymbols(path, text));
    },
  };
}

/** All places of a source that a bug fits: one, where it is sound. */
export function findPlaces(source: Source, { find, symbol = '' }: Anchor): Place[] {
  const wanted = listTokens(find);
  if (wanted.length === 0) return [];
  let places = findSequence(source.tokens, wanted);
  // The comma after the last of several lines is one that a formatter adds.
  if (places.length === 0 && wanted.at(-1)?.text === ',') places = findSequence(source.tokens, wanted.slice(0, -1));
  if (symbol === '' || places.length === 0) return places;
  const enclosing = source.symbols.filter((one) => one.symbol === symbol);
  return places.filter(({ start, end }) => enclosing.some((one) => one.start <= start && end <= one.end));
}

/** The text of a source with a bug in it. Throws where it does not fit exactly once. */
export function plant(source: Source, bug: PlantedBug): string {
  const [place, second] = findPlaces(source, bug);
  if (place === undefined || second !== undefined)
    throw new Error(`the bug does not fit ${source.path} exactly once: ${bug.find}`);
  return source.text.slice(0, place.start) + bug.replace.trim() + source.text.slice(place.end);
}

const wordPattern = /[\p{L}_$][\p{L}\p{N}_$]*/gu;

/** A bug after a rename of identifiers and files: each word and each path is looked up in `renames`. */
export function renameBug(bug: PlantedBug, { identifiers = {}, files = {} }: Renames): PlantedBug {
  const rename = (text: string): string =>
    text.replace(wordPattern, (word) => (Object.hasOwn(identifiers, word) ? (identifiers[word] ?? word) : word));
  const move = (path: string): string => files[path] ?? path;
  return {
    ...bug,
    file: move(bug.file),
    tests: bug.tests.map(move),
    find: rename(bug.find),
    replace: rename(bug.replace),
    ...(bug.symbol === undefined ? {} : { symbol: rename(bug.symbol) }),
  };
}
