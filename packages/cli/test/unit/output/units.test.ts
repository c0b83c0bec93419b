import test from 'ava';
import {
  showBytes,
  showDuration,
  showInstant,
  showMoment,
  showTimeOfDay,
  thousandths,
} from '../../../src/output/units.ts';
import { renderPairs, renderTable } from '../../../src/output/table.ts';

test('a moment of another day is shown with its day', (t) => {
  const now = 1_000_000_000;
  t.is(showMoment(now + 3_600_000, now), showTimeOfDay(now + 3_600_000));
  t.is(showMoment(now + 86_400_000, now), showInstant(now + 86_400_000));
  t.is(showMoment(0, 5), '-');
});

test('durations are shown with two units at most', (t) => {
  t.deepEqual(
    [0, 49, 9_949, 9_950, 59_499, 59_500, 60_000, 3_599_499, 3_600_000, 86_399_000, 90_000_000].map(showDuration),
    ['0.0s', '0.0s', '9.9s', '10s', '59s', '1m00s', '1m00s', '59m59s', '1h00m', '23h59m', '1d01h'],
  );
});

test('sizes are shown by 1024', (t) => {
  t.deepEqual([0, 1023, 1024, 1_048_575, 1_048_576, 5 * 2 ** 40].map(showBytes), [
    '0 B',
    '1023 B',
    '1.0 KiB',
    '1.0 MiB',
    '1.0 MiB',
    '5.0 TiB',
  ]);
});

test('a table has its numbers to the right and no trailing spaces', (t) => {
  t.deepEqual(
    renderTable(
      [{ title: 'N', right: true }, { title: 'NAME' }],
      [
        ['10', 'a'],
        ['9', 'bcdef'],
      ],
    ),
    [' N  NAME', '10  a', ' 9  bcdef'],
  );
});

test('pairs without a value are left out', (t) => {
  t.deepEqual(
    renderPairs([
      ['a', '1'],
      ['bcd', ''],
      ['ef', '2'],
    ]),
    ['a   1', 'ef  2'],
  );
});

test('a number keeps three decimals at most', (t) => {
  t.deepEqual([2, 0.1 + 0.2, 1.234_56, 0.000_4, -1.000_6].map(thousandths), [2, 0.3, 1.235, 0, -1.001]);
});
