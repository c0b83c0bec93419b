import test from 'ava';
import { narrowestOf, RunSummaries, slotOf } from '../../../src/profile/run-summaries.ts';

test('widths up to a quarter apart share a slot, and the narrowest stands for them', (t) => {
  for (let width = 1; width < 3000; width += 1) {
    const narrowest = narrowestOf(slotOf(width));
    t.true(narrowest <= width && width < 1.25 * narrowest + 1e-9 && slotOf(narrowest) === slotOf(width), String(width));
    t.true(slotOf(width + 1) - slotOf(width) <= 1 && slotOf(width + 1) >= slotOf(width), String(width));
  }
});

test('the widest machines share the last slot', (t) => {
  t.is(slotOf(2 ** 31 - 1), slotOf(2 ** 30));
  t.true(narrowestOf(slotOf(2 ** 31 - 1)) <= 2 ** 30);
});

test('a summary is that of its version', (t) => {
  const summaries = new RunSummaries();
  t.false(summaries.isFresh(3, 0));
  summaries.write(3, 7, { prefixEnd: 1, longest: 2, suffixStart: Infinity });
  t.deepEqual([summaries.isFresh(3, 7), summaries.isFresh(3, 8), summaries.isFresh(4, 7)], [true, false, false]);
  t.deepEqual([summaries.prefixEnd(3), summaries.longest(3), summaries.suffixStart(3)], [1, 2, Infinity]);
});
