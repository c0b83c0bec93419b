import test from 'ava';
import { getNarrowest, RunSummaries, getSummarySlot } from '../../../src/profile/run-summaries.ts';

test('widths up to a quarter apart share a slot, and the narrowest stands for them', (t) => {
  for (let width = 1; width < 3000; width += 1) {
    const narrowest = getNarrowest(getSummarySlot(width));
    t.true(
      narrowest <= width && width < 1.25 * narrowest + 1e-9 && getSummarySlot(narrowest) === getSummarySlot(width),
      String(width),
    );
    t.true(
      getSummarySlot(width + 1) - getSummarySlot(width) <= 1 && getSummarySlot(width + 1) >= getSummarySlot(width),
      String(width),
    );
  }
});

test('the widest machines share the last slot', (t) => {
  t.is(getSummarySlot(2 ** 31 - 1), getSummarySlot(2 ** 30));
  t.true(getNarrowest(getSummarySlot(2 ** 31 - 1)) <= 2 ** 30);
});

const summary = { prefixEnd: 1, longest: 2, suffixStart: Infinity };

test('a summary is kept for its slot and row', (t) => {
  const summaries = new RunSummaries(128, 3);
  t.false(summaries.has(3, 1));
  summaries.write(3, 1, summary);
  t.deepEqual(
    [summaries.has(3, 1), summaries.has(4, 1), summaries.has(3, 0), summaries.has(3, 2)],
    [true, false, false, false],
  );
  t.deepEqual([summaries.prefixEnd(3, 1), summaries.longest(3, 1), summaries.suffixStart(3, 1)], [1, 2, Infinity]);
});

test('a change drops the summaries of the widths that became free or ceased to be, and no other', (t) => {
  for (const [above, upTo] of [
    [0, 1],
    [2, 5],
    [7, 9],
    [8, 9],
    [20, 64],
    [0, 128],
    [5, 5],
  ] as const) {
    const summaries = new RunSummaries(128, 2);
    const widths = Array.from({ length: 128 }, (_, index) => index + 1);
    for (const width of widths) for (const row of [0, 1]) summaries.write(getSummarySlot(width), row, summary);
    summaries.drop(1, above, upTo);
    const changed = (width: number): boolean =>
      above < getNarrowest(getSummarySlot(width)) && getNarrowest(getSummarySlot(width)) <= upTo;
    t.deepEqual(
      widths.filter((width) => !summaries.has(getSummarySlot(width), 1)),
      widths.filter(changed),
      `${above} to ${upTo}`,
    );
    summaries.clear(1);
    t.false(widths.some((width) => summaries.has(getSummarySlot(width), 1)));
    t.true(widths.every((width) => summaries.has(getSummarySlot(width), 0)));
  }
});

test('rows that move take their summaries along, in every slot', (t) => {
  const summaries = new RunSummaries(2, 4);
  for (const slot of [1, 2])
    for (const row of [0, 1, 2, 3]) summaries.write(slot, row, { ...summary, longest: 10 * slot + row });
  const longest = (): number[][] => [1, 2].map((slot) => [0, 1, 2, 3].map((row) => summaries.longest(slot, row)));
  summaries.move(1, 2);
  t.deepEqual(longest(), [
    [10, 11, 11, 12],
    [20, 21, 21, 22],
  ]);
  summaries.move(3, 1);
  t.deepEqual(longest(), [
    [10, 12, 11, 12],
    [20, 22, 21, 22],
  ]);
});
