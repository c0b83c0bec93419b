import { sayReason } from '@mutirao/api/reasons';
import test from 'ava';
import { describeAmount, parseAmount } from '@mutirao/core/reservations';

test('shares, units and plain numbers are amounts', (t) => {
  t.deepEqual(parseAmount('50%', 'bytes-per-second', 800_000), { amount: 400_000 });
  t.deepEqual(parseAmount('12.5 %', 'count', 16), { amount: 2 });
  t.deepEqual(parseAmount('7%', 'count', 100), { amount: 7 });
  t.deepEqual(parseAmount('1.5 GiB', 'bytes', 1e12), { amount: 1_610_612_736 });
  t.deepEqual(parseAmount('400kB/s', 'bytes-per-second', 800_000), { amount: 400_000 });
  t.deepEqual(parseAmount('1 Mbit/s', 'bytes-per-second', 800_000), { amount: 125_000 });
  t.deepEqual(parseAmount('2.4GHz', 'hertz', 1e10), { amount: 2_400_000_000 });
  t.deepEqual(parseAmount('4', 'count', 16), { amount: 4 });
});

test('parts of a unit are rounded up', (t) => {
  t.deepEqual(parseAmount('30%', 'count', 16), { amount: 5 });
});

test('the refusal of an invalid amount names a valid one', (t) => {
  const fault = (text: string): string => {
    const parsed = parseAmount(text, 'bytes-per-second', 800_000);
    return 'fault' in parsed ? sayReason(parsed.fault) : '';
  };
  t.regex(
    fault('400 parsecs'),
    /^"parsecs" is not a unit of bytes-per-second; expected a share such as 30%, or a number with one of B\/s, KB\/s/,
  );
  t.regex(fault('400KB'), /is not a unit/);
  t.is(fault('101%'), 'the share is 101%; expected at most 100%');
  t.regex(fault('0'), /is nothing/);
  t.regex(fault('-5'), /is not an amount/);
  t.regex(fault('much'), /is not an amount/);
});

test('amounts are printed in the largest unit that they have one of', (t) => {
  t.is(describeAmount(400_000, 'bytes-per-second'), '400 KB/s');
  t.is(describeAmount(16, 'count'), '16');
  t.is(describeAmount(2_450_000_000, 'hertz'), '2.5 GHz');
});
