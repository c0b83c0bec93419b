import test from 'ava';

import { requirePreAcquire, readHolding, reportReserving } from '../../src/open-manager.ts';

test('the lead rule is read, and a malformed one is refused with the expected form', (t) => {
  t.is(readHolding(''), undefined);
  t.deepEqual(readHolding('fixed:90m'), { kind: 'fixed', lead: 5_400_000 });
  t.deepEqual(readHolding('fixed:1h30m'), { kind: 'fixed', lead: 5_400_000 }, 'a time as any option takes it');
  t.deepEqual(readHolding('fixed:1d'), { kind: 'fixed', lead: 86_400_000 });
  t.deepEqual(readHolding('learned:90%'), { kind: 'learned', share: 0.9 });
  t.deepEqual(readHolding('forecast:1h'), { kind: 'forecast', margin: 3_600_000 });
  for (const text of [
    'fixed',
    'fixed:',
    'fixed:1x',
    'fixed:-1h',
    'learned:0%',
    'learned:100%',
    'learned:0.9',
    'forecast',
    'forecast:90%',
  ]) {
    t.throws(
      () => readHolding(text),
      { code: 'MUT_BAD_CONFIG', message: /expected fixed: .* learned: .* or forecast: / },
      text,
    );
  }
});

test('nothing is pre-acquired at a cluster that honours reservations itself; a manager that cannot say is taken to honour none', async (t) => {
  const config = { preAcquire: 'fixed:1h', cluster: 'alpha' };
  const reported = (honours: boolean | undefined) => ({ honoursReservations: () => Promise.resolve(honours) });
  await t.throwsAsync(requirePreAcquire(config, reported(true)), {
    code: 'MUT_PRE_ACQUIRE_NOT_SUPPORTED',
    message: /the cluster alpha honours reservations by itself; expected neither --pre-acquire nor --reservations/,
  });
  await t.notThrowsAsync(requirePreAcquire({ ...config, preAcquire: '' }, reported(true)));
  for (const manager of [reported(false), reported(undefined), {}, undefined])
    await t.notThrowsAsync(requirePreAcquire(config, manager));
});

test('the way in which reservations are kept is reported, and a better one where this account may, or may not, have others made', async (t) => {
  const reported = async (preAcquire: string, mayReserve: boolean | undefined, isSite = true): Promise<string> => {
    const lines: string[] = [];
    const note =
      (level: string) =>
      (_fields: object, text: string): void => {
        lines.push(`${level} ${text}`);
      };
    const log = { info: note('info'), warn: note('warn') };
    await reportReserving(
      { preAcquire },
      { ...(isSite ? { siteReservations: {} as never } : {}), mayReserve: () => Promise.resolve(mayReserve) },
      log,
    );
    return lines.join('; ');
  };
  t.regex(
    await reported('fixed:1h', true),
    /^info .* holding these \(best effort\); warn this account may reserve at the resource manager/,
  );
  t.regex(await reported('fixed:1h', false), /^info .* holding these \(best effort\)$/);
  t.regex(await reported('fixed:1h', undefined), /^info .* holding these \(best effort\)$/);
  t.regex(await reported('', true), /^info reservations: made by the resource manager[^;]*$/);
  t.regex(await reported('', false), /^info reservations: made by .*; warn .*--pre-acquire/);
  t.is(await reported('', true, false), '');
});
