// Marks in the text of a job file.
import fc from 'fast-check';
import test from 'ava';
import { lineAt, lineStart, markBeside, markText, sayMark } from '../../../client/src/model/marked-text.ts';

const error = (line: number, column: number): { severity: 'error'; line: number; column: number; message: string } => ({
  severity: 'error',
  line,
  column,
  message: '',
});

test('the word at a place is marked, else the letter, at the end of a line its last', (t) => {
  const marked = (line: number, column: number): string[] =>
    markText('job :\n  labl : x\n', [error(line, column)]).flatMap(({ text, mark }) =>
      mark === undefined ? [] : [text],
    );
  t.deepEqual(marked(2, 3), ['labl']);
  t.deepEqual(marked(1, 5), [':']);
  t.deepEqual(marked(2, 99), ['x']);
  t.deepEqual(marked(9, 1), []);
  t.deepEqual(marked(0, 1), []);
});

test('the pieces put together are the text, whatever is marked', (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', ' ', '\n', '<', ':') }),
      fc.array(fc.tuple(fc.nat(6), fc.nat(9))),
      (text, places) => {
        t.is(
          markText(
            text,
            places.map(([line, column]) => error(line, column)),
          )
            .map((piece) => piece.text)
            .join(''),
          text,
        );
      },
    ),
    { seed: 2, numRuns: 300 },
  );
});

test('lines begin behind line ends', (t) =>
  t.deepEqual(
    [1, 2, 3, 4].map((line) => lineStart('a\n\nb', line)),
    [0, 2, 3, undefined],
  ));

test('the line of a place is the one that it stands in', (t) =>
  t.deepEqual(
    [0, 1, 2, 3, 9].map((offset) => lineAt('a\n\nb', offset)),
    [1, 1, 2, 3, 3],
  ));

test('one goes from mark to mark by their places, and round the ends', (t) => {
  const text = 'ab\ncd\nef';
  const marks = [error(3, 1), error(1, 2), error(2, 1), error(9, 1)];
  const leads = (at: number, isForward: boolean): number | undefined =>
    markBeside(text, marks, { at, isForward })?.line;
  t.deepEqual([leads(0, true), leads(1, true), leads(3, true), leads(6, true)], [1, 2, 3, 1]);
  t.deepEqual([leads(0, false), leads(3, false), leads(8, false)], [3, 1, 3]);
  t.is(markBeside(text, [], { at: 0, isForward: true }), undefined);
});

test('what is said of a place names the word that was perhaps meant', (t) => {
  t.is(
    sayMark({ ...error(1, 1), message: 'found "remot", expected a section', nearest: 'remote' }),
    'found "remot", expected a section; did you mean remote?',
  );
  t.is(sayMark({ ...error(1, 1), message: 'odd', nearest: null }), 'odd');
});
