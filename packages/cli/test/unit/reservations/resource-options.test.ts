import test from 'ava';
import { mergeRules, readCount, readPart } from '../../../src/reservations/resource-options.ts';

test('what is counted is a whole number, and a share may have a part', (t) => {
  for (const text of ['1.5', '-1', 'two', '9007199254740993']) {
    for (const read of [
      () => mergeRules(undefined, { perUser: text }),
      () => mergeRules(undefined, { amountPerUser: text }),
      () => mergeRules(undefined, { movesMax: text }),
      () => readPart({ unit: text }),
      () => readPart({ amount: text }),
      () => readCount('amount', text),
    ]) {
      t.throws(read, { code: 'MUT_BAD_REQUEST', message: /expected a whole number of 0 or more/ });
    }
  }
  t.like(mergeRules(undefined, { perUser: '2', cap: '12.5%' }), { reservationsPerUserMax: 2, capPercent: 12.5 });
});
