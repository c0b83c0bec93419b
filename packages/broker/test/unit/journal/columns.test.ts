import test from 'ava';
import fc from 'fast-check';

import { numberAt, packNumbers, packTexts, textAt } from '../../../src/journal/columns.ts';
import { runs } from '@mutirao/testkit';

test('one value and a count cost one number', (t) => {
  t.is(
    packNumbers([5, 5, 5], (value) => value),
    5,
  );
  t.deepEqual(
    packNumbers([5, 6, 7], (value) => value),
    { s: 5 },
  );
  t.deepEqual(
    packNumbers([5, 6, 9], (value) => value),
    { b: 5, d: [0, 1, 4] },
  );
  t.is(
    packTexts(['a', 'a'], (value) => value),
    'a',
  );
});

test('whatever goes into a column comes out of it', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.array(fc.constantFrom('', 'a', 'b')), (numbers, texts) => {
      const packed = JSON.parse(
        JSON.stringify([packNumbers(numbers, (value) => value), packTexts(texts, (value) => value)]),
      ) as [ReturnType<typeof packNumbers>, ReturnType<typeof packTexts>];
      t.deepEqual(
        numbers.map((_, index) => numberAt(packed[0], index)),
        numbers,
      );
      t.deepEqual(
        texts.map((_, index) => textAt(packed[1], index)),
        texts,
      );
    }),
    runs(7, 200),
  );
});
