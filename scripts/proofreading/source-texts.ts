// The prose of a TypeScript source: its TSDoc comments, and strings of several words, which are what users read.
import ts from 'typescript';
import type { ProseText } from './rules.ts';

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

export function readSourceTexts(file: string, text: string): ProseText[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023);
  const texts: ProseText[] = [];
  const add = (kind: 'docstrings' | 'messages', found: string, position: number): void => {
    const first = source.getLineAndCharacterOfPosition(position).line + 1;
    let line = first;
    const lines = found.split('').map((character) => {
      if (character === '\n' && kind === 'docstrings') line += 1;
      return line;
    });
    texts.push({ file, kind, text: found.replaceAll('\n', ' '), lines, hasSentences: false });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    const found = findText(node);
    if (found === undefined) {
      ts.forEachChild(node, visit);
      return;
    }
    if (found.trim().split(/\s+/).length >= wordsMin) add('messages', found, node.getStart(source));
    visitValues(node, visit);
  };
  visit(source);
  for (const match of text.matchAll(/^[ \t]*\/\*\*([^]*?)\*\//gm))
    add('docstrings', wordsOfComment(match[1] ?? ''), match.index);
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
