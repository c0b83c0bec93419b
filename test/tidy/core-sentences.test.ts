// The core gives reasons and faults as data; sentences are made of them outside. So no string literal of it has five
// words or more. The text of an InvariantError is exempt: only our own bugs raise one, and only developers read it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import ts from 'typescript';

const root = new URL('../../packages/core/src/', import.meta.url).pathname;
const wordsMax = 4;
const bugs = new Map([
  [ts.SyntaxKind.CallExpression, 'invariant'],
  [ts.SyntaxKind.NewExpression, 'InvariantError'],
]);

/** Literals of more words than a name or a code has. */
function countSentences(text: string): number {
  let count = 0;
  const visit = (node: ts.Node): void => {
    if (isOfBug(node)) return;
    const words = listWords(node)
      .split(/\s+/)
      .filter((word) => /[A-Za-z]/.test(word));
    if (words.length > wordsMax) count += 1;
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('core.ts', text, ts.ScriptTarget.Latest));
  return count;
}

/** `invariant(…, text)` or `new InvariantError(text)`. */
function isOfBug(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return false;
  return ts.isIdentifier(node.expression) && node.expression.text === bugs.get(node.kind);
}

function listWords(node: ts.Node): string {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return '';
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(' ');
}

function countAll(): Record<string, number> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort();
  const counts = files.map((name) => [name, countSentences(readFileSync(join(root, name), 'utf8'))] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

test('the core has no sentences', (t) => {
  t.deepEqual(
    countAll(),
    {},
    'give the reason or the fault as a code with parameters, and its sentence in packages/api',
  );
});

test('a literal of five words counts, also one with values in it, and a name or a path does not', (t) => {
  t.is(countSentences("const one = 'this is a whole sentence';"), 1);
  t.is(countSentences('const one = `task ${index} is not there now`;'), 1);
  t.is(countSentences("import { a } from '../../shared/index.ts'; const code = 'request-slots-taken';"), 0);
});

test('what is said of a broken invariant does not count, and what other errors say does', (t) => {
  t.is(countSentences('invariant(isKnown, () => `request ${id} is of broker ${broker}, which is not known`);'), 0);
  t.is(countSentences("throw new InvariantError('a member of a gang that is not there');"), 0);
  t.is(countSentences("throw new SyntaxError('a list that is no list at all');"), 1);
  t.is(countSentences("refuse(isKnown, 'the broker is not known here');"), 1);
});
