import test from 'ava';
import { parseRollup, proportionalBytes } from '@mutirao/runtime/processes';

test('the proportional share is read from a rollup of the map', (t) => {
  t.is(
    parseRollup(
      '55a7c0000000-7ffd3d5f7000 ---p 00000000 00:00 0  [rollup]\nRss:   9000 kB\nPss:    1234 kB\nPss_Anon:   ' +
        '600 kB\n',
    ),
    1234 * 1024,
  );
  t.is(parseRollup('Rss: 12 kB\n'), undefined);
});

test('a process whose map cannot be read counts with its resident memory, and one that is there with at most that', (t) => {
  t.is(proportionalBytes([{ pid: 2 ** 22 + 1, residentBytes: 5 }]), 5);
  const { rss } = process.memoryUsage();
  const bytes = proportionalBytes([{ pid: process.pid, residentBytes: rss }]);
  t.true(bytes > 0 && bytes < 2 * rss, `${bytes} of ${rss}`);
});
