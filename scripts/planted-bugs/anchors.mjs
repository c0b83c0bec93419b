// Where a planted bug stands: a file, the declaration that encloses it, and a sequence of tokens. Blanks, line ends and the commas and bars that a
// formatter adds when it breaks a line do not count, so that formatting leaves every anchor where it was.
import ts from 'typescript';

/** @typedef {{ text: string, start: number, end: number }} Token */

const tokenPattern = /[\p{L}_$][\p{L}\p{N}_$]*|\p{N}[\p{L}\p{N}_.]*|\S/gu;
const closers = new Set([')', ']', '}']);

/** All tokens of a text, words inside strings and comments among them, without those that a formatter adds by itself. @returns {Token[]} */
export function listTokens(text) {
  const tokens = Array.from(text.matchAll(tokenPattern), (match) => ({ text: match[0], start: match.index, end: match.index + match[0].length }));
  return tokens.filter(({ text: token }, at) => {
    if (token === ',') return !closers.has(tokens[at + 1]?.text);
    if (token === '|') return !['=', ':', '('].includes(tokens[at - 1]?.text);
    return true;
  });
}

/** Where `wanted` occurs in `tokens`. @returns {{ start: number, end: number }[]} */
function findSequence(tokens, wanted) {
  const found = [];
  for (let at = 0; at + wanted.length <= tokens.length; at += 1) {
    if (wanted.every(({ text }, offset) => tokens[at + offset].text === text)) found.push({ start: tokens[at].start, end: tokens[at + wanted.length - 1].end });
  }
  return found;
}

const hasBody = (node) => ts.isFunctionLike(node) || ts.isClassLike(node) || ts.isModuleDeclaration(node);

/** The name under which a node is a part of a symbol, if it is one. */
function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  if (ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node) || ts.isPropertyDeclaration(node)) {
    const value = node.initializer;
    const isDeclared = ts.isVariableDeclaration(node) && ts.isSourceFile(node.parent.parent.parent);
    return isDeclared || (value !== undefined && hasBody(value)) ? node.name.getText() : undefined;
  }
  const isNamed = hasBody(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node);
  return isNamed ? node.name?.getText() : undefined;
}

/** All declarations that may enclose a bug, outer ones first. @returns {{ symbol: string, start: number, end: number }[]} */
export function listSymbols(path, text) {
  const found = [];
  const visit = (node, outer) => {
    const name = nameOf(node);
    const symbol = name === undefined ? outer : outer === '' ? name : `${outer}.${name}`;
    if (name !== undefined) found.push({ symbol, start: node.getStart(), end: node.getEnd() });
    ts.forEachChild(node, (child) => visit(child, symbol));
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true), '');
  return found;
}

/** The innermost declaration around a place of a file; empty outside of any. */
export function enclosingSymbol(symbols, { start, end }) {
  return symbols.filter((symbol) => symbol.start <= start && end <= symbol.end).at(-1)?.symbol ?? '';
}

/** A source file, read once for all of its bugs. */
export function readSource(path, text) {
  let tokens, symbols;
  return {
    path, text,
    get tokens() { return tokens ??= listTokens(text); },
    get symbols() { return symbols ??= listSymbols(path, text); },
  };
}

/** All places of a source that a bug fits: one, where it is sound. */
export function findPlaces(source, { find, symbol = '' }) {
  const wanted = listTokens(find);
  if (wanted.length === 0) return [];
  let places = findSequence(source.tokens, wanted);
  // The comma after the last of several lines is one that a formatter adds.
  if (places.length === 0 && wanted.at(-1).text === ',') places = findSequence(source.tokens, wanted.slice(0, -1));
  if (symbol === '' || places.length === 0) return places;
  const enclosing = source.symbols.filter((one) => one.symbol === symbol);
  return places.filter(({ start, end }) => enclosing.some((one) => one.start <= start && end <= one.end));
}

/** The text of a source with a bug in it, which fits once. */
export function plant(source, bug) {
  const [{ start, end }] = findPlaces(source, bug);
  return source.text.slice(0, start) + bug.replace.trim() + source.text.slice(end);
}

const wordPattern = /[\p{L}_$][\p{L}\p{N}_$]*/gu;

/** A bug after a rename of identifiers and files: each word and each path is looked up in `renames`. */
export function renameBug(bug, { identifiers = {}, files = {} }) {
  const rename = (text) => text.replace(wordPattern, (word) => Object.hasOwn(identifiers, word) ? identifiers[word] : word);
  const move = (path) => files[path] ?? path;
  return {
    ...bug, file: move(bug.file), tests: bug.tests.map(move), find: rename(bug.find), replace: rename(bug.replace),
    ...(bug.symbol === undefined ? {} : { symbol: rename(bug.symbol) }),
  };
}
