import test from 'ava';

import { demandHolding, readHolding } from '../../src/open-manager.ts';

test('when to ask ahead is read, and what is no such rule is refused with what is wanted', (t) => {
  t.is(readHolding(''), undefined);
  t.deepEqual(readHolding('fixed:90m'), { kind: 'fixed', lead: 5_400_000 });
  t.deepEqual(readHolding('fixed:1h30m'), { kind: 'fixed', lead: 5_400_000 }, 'a time as any option takes it');
  t.deepEqual(readHolding('fixed:1d'), { kind: 'fixed', lead: 86_400_000 });
  t.deepEqual(readHolding('learned:90%'), { kind: 'learned', share: 0.9 });
  t.deepEqual(readHolding('forecast:1h'), { kind: 'forecast', margin: 3_600_000 });
  for (const text of ['fixed', 'fixed:', 'fixed:1x', 'fixed:-1h', 'learned:0%', 'learned:100%', 'learned:0.9', 'forecast', 'forecast:90%']) {
    t.throws(() => readHolding(text), { code: 'MUT_BAD_CONFIG', message: /want fixed: .* learned: .* or forecast: / }, text);
  }
});

test('nothing is held at a cluster that honours reservations by itself, and whoever cannot tell is believed to honour none', async (t) => {
  const config = { holdAhead: 'fixed:1h', cluster: 'alpha' };
  const told = (honours: boolean | undefined) => ({ honoursReservations: () => Promise.resolve(honours) });
  await t.throwsAsync(demandHolding(config, told(true)), { code: 'MUT_HOLD_NEEDLESS', message: /the cluster alpha honours reservations by itself; want neither --hold-ahead nor --reservations/ });
  await t.notThrowsAsync(demandHolding({ ...config, holdAhead: '' }, told(true)));
  for (const manager of [told(false), told(undefined), {}, undefined]) await t.notThrowsAsync(demandHolding(config, manager));
});
