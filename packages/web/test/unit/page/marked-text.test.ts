// Marks in the text of a job file.
import fc from 'fast-check';
import test from 'ava';
import { lineStart, markText } from '../../../client/src/model/marked-text.ts';

const error = (line: number, column: number): { severity: 'error'; line: number; column: number; message: string } => ({ severity: 'error', line, column, message: '' });

test('the word at a place is marked, else the letter, at the end of a line its last', (t) => {
  const marked = (line: number, column: number): string[] => markText('job :\n  labl : x\n', [error(line, column)]).flatMap(({ text, mark }) => (mark === undefined ? [] : [text]));
  t.deepEqual(marked(2, 3), ['labl']);
  t.deepEqual(marked(1, 5), [':']);
  t.deepEqual(marked(2, 99), ['x']);
  t.deepEqual(marked(9, 1), []);
  t.deepEqual(marked(0, 1), []);
});

test('the pieces put together are the text, whatever is marked', (t) => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '\n', '<', ':') }), fc.array(fc.tuple(fc.nat(6), fc.nat(9))), (text, places) => {
    t.is(markText(text, places.map(([line, column]) => error(line, column))).map((piece) => piece.text).join(''), text);
  }), { seed: 2, numRuns: 300 });
});

test('lines begin behind line ends', (t) => t.deepEqual([1, 2, 3, 4].map((line) => lineStart('a\n\nb', line)), [0, 2, 3, undefined]));
