import test from 'ava';
import { requireLimits } from '../../../src/processes/require-limits.ts';

const limit = (value: string) => ({ soft: value, hard: value });

test('a limit on the size of files that no journal fits into is refused with its figures', (t) => {
  t.throws(
    () => {
      requireLimits(32, new Map([['Max file size', limit('102400')]]), true);
    },
    { code: 'MUT_HOME_UNUSABLE', message: /at most 10\d.* \(hard limit, "ulimit -Hf"\).*expected/ },
  );
});

test('a limit on processes below the need is refused, except for root, which it does not bind', (t) => {
  const limits = new Map([['Max processes', limit('60')]]);
  t.throws(
    () => {
      requireLimits(128, limits, false);
    },
    { code: 'MUT_HOME_UNUSABLE', message: /at most 60 processes and threads .*expected 128 or more/ },
  );
  t.notThrows(() => {
    requireLimits(32, limits, false);
    requireLimits(128, limits, true);
    requireLimits(128, new Map([['Max processes', limit('unlimited')]]), false);
    requireLimits(128, new Map(), false);
  });
});
