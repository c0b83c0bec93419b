import test from 'ava';

import { readHolding } from '../../src/open-manager.ts';

test('when to ask ahead is read, and what is no such rule is refused with what is wanted', (t) => {
  t.is(readHolding(''), undefined);
  t.deepEqual(readHolding('fixed:90m'), { kind: 'fixed', lead: 5_400_000 });
  t.deepEqual(readHolding('fixed:1h30m'), { kind: 'fixed', lead: 5_400_000 }, 'a time as any option takes it');
  t.deepEqual(readHolding('fixed:1d'), { kind: 'fixed', lead: 86_400_000 });
  t.deepEqual(readHolding('learned:90%'), { kind: 'learned', share: 0.9 });
  for (const text of ['fixed', 'fixed:', 'fixed:1x', 'fixed:-1h', 'learned:0%', 'learned:100%', 'learned:0.9', 'forecast:1h']) {
    t.throws(() => readHolding(text), { code: 'MUT_BAD_CONFIG', message: /want fixed: .* or learned: / }, text);
  }
});
