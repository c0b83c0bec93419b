// The prose of a TypeScript source: its comments, the titles of tests, and strings of several words, which are what users read.
import ts from 'typescript';
import type { ProseText, TextKind } from './rules.ts';

/** Strings of fewer words are names, keys and fragments. */
const wordsMin = 3;

const joinsTexts = (node: ts.Node): node is ts.BinaryExpression =>
  ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;

/** A string, template or sum of them as one text, where each value is the word `x`; undefined for anything else. */
function findText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `\`x\`${literal.text}`).join('');
  if (!joinsTexts(node)) return undefined;
  const [left, right] = [findText(node.left), findText(node.right)];
  return left === undefined && right === undefined ? undefined : (left ?? '`x`') + (right ?? '`x`');
}

/** The words of a comment: without its stars, code and tags. */
function wordsOfComment(comment: string): string {
  return comment
    .replaceAll(/```[^]*?```/g, '')
    .replaceAll(/^[ \t]*\*+ ?/gm, '')
    .replaceAll(/`[^`\n]*`|\{@link [^}]*\}/g, '`x`');
}

/** Makes texts of one file: each character of a comment knows its line. */
function textMaker(file: string, source: ts.SourceFile): (kind: TextKind, text: string, position: number) => ProseText {
  return (kind, text, position) => {
    let line = source.getLineAndCharacterOfPosition(position).line + 1;
    const isComment = kind === 'docstrings' || kind === 'comments';
    const lines = text.split('').map((character) => {
      if (character === '\n' && isComment) line += 1;
      return line;
    });
    return { file, kind, text: text.replaceAll('\n', ' '), lines, hasSentences: false };
  };
}

export function readSourceTexts(file: string, text: string): ProseText[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023);
  const texts: ProseText[] = [];
  const make = textMaker(file, source);
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    const found = findText(node);
    if (found === undefined) {
      ts.forEachChild(node, visit);
      return;
    }
    if (found.trim().split(/\s+/).length >= wordsMin) texts.push(make('messages', found, node.getStart(source)));
    visitValues(node, visit);
  };
  visit(source);
  for (const match of text.matchAll(/^[ \t]*\/\*\*([^]*?)\*\//gm))
    texts.push(make('docstrings', wordsOfComment(match[1] ?? ''), match.index));
  // Lines of comment that follow each other are one text.
  for (const match of text.matchAll(/^[ \t]*\/\/(.*(?:\n[ \t]*\/\/.*)*)/gm))
    texts.push(make('comments', wordsOfComment((match[1] ?? '').replaceAll(/^[ \t]*\/\//gm, '')), match.index));
  return texts;
}

/** The place of the message among the arguments of an assertion; of others it is the third. */
const messagePlaces: Readonly<Record<string, number>> = { true: 1, false: 1, truthy: 1, falsy: 1, pass: 0, fail: 0 };

/** The title of a test (`test(…)`, `test.serial(…)` and the like), or the message of an assertion or of `until`. */
function findTestText(name: string, args: ts.NodeArray<ts.Expression>): ts.Expression | undefined {
  if (/^test\b/.test(name)) return args[0];
  if (name === 'until') return args[1];
  const [, assertion] = /^t\.(\w+)$/.exec(name) ?? [];
  return assertion === undefined ? undefined : args[messagePlaces[assertion] ?? 2];
}

/** The titles of the tests in a file, and the messages of their assertions. */
export function readTestTitles(file: string, text: string): ProseText[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023);
  const texts: ProseText[] = [];
  const make = textMaker(file, source);
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isCallExpression(node)) return;
    const title = findTestText(node.expression.getText(source), node.arguments);
    const found = title === undefined ? undefined : findText(title);
    if (title !== undefined && found !== undefined) texts.push(make('titles', found, title.getStart(source)));
  };
  visit(source);
  return texts;
}

/** Visits the values inside a text, which may have texts of their own. */
function visitValues(node: ts.Node, visit: (node: ts.Node) => void): void {
  if (ts.isTemplateExpression(node)) for (const span of node.templateSpans) visit(span.expression);
  if (!joinsTexts(node)) return;
  for (const side of [node.left, node.right]) {
    if (findText(side) === undefined) visit(side);
    else visitValues(side, visit);
  }
}
