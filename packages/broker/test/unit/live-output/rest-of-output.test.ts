import test from 'ava';
import { restOfOutput } from '../../../src/live-output/rest-of-output.ts';

function rest(kept: string, isCut: boolean, offset: number): (readonly [number, string])[] {
  return restOfOutput(Buffer.from(kept), isCut, offset).map((piece) => [
    piece.offset,
    Buffer.from(piece.bytes).toString(),
  ]);
}

test('of a stream that is kept whole the rest follows', (t) => {
  t.deepEqual(rest('abcdef', false, 2), [[2, 'cdef']]);
  t.deepEqual(rest('abcdef', false, 6), []);
  t.deepEqual(rest('abcdef', false, 9), []);
});

test('of a stream that was cut head and tail stand where they were', (t) => {
  const kept = 'head\n[mutirao: 90 of 100 bytes were cut here]\ntail\n';
  t.deepEqual(rest(kept, true, 0), [
    [0, 'head\n'],
    [95, 'tail\n'],
  ]);
  t.deepEqual(rest(kept, true, 3), [
    [3, 'd\n'],
    [95, 'tail\n'],
  ]);
  t.deepEqual(rest(kept, true, 50), [[95, 'tail\n']]);
  t.deepEqual(rest(kept, true, 97), [[97, 'il\n']]);
});

test('an end of line before the line of the cut is not counted where the head has none', (t) => {
  t.deepEqual(rest('head\n[mutirao: 91 of 100 bytes were cut here]\ntail\n', true, 0), [
    [0, 'head'],
    [95, 'tail\n'],
  ]);
});

test('a line that a task prints itself is not taken for that of the cut', (t) => {
  const own = '[mutirao: 1 of 2 bytes were cut here]\n';
  const kept = `${own}[mutirao: 10 of ${own.length + 12} bytes were cut here]\nz\n`;
  t.deepEqual(rest(kept, true, 0), [
    [0, own],
    [own.length + 10, 'z\n'],
  ]);
  t.deepEqual(rest(own, false, 0), [[0, own]]);
});
