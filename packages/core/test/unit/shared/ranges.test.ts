import test from 'ava';
import { countIn, listRanges } from '@mutirao/core/shared';

test('numbers become ranges of those that count up by one, in their order', (t) => {
  t.deepEqual(listRanges([4, 5, 6, 2, 3, 9]), [
    { first: 4, count: 3 },
    { first: 2, count: 2 },
    { first: 9, count: 1 },
  ]);
  t.is(countIn(listRanges([4, 5, 6, 2, 3, 9])), 6);
  t.deepEqual(listRanges([]), []);
});
