import test from 'ava';
import { parsePeak, parseRollup, proportionalBytes, readPeak } from '@mutirao/runtime/processes';

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

test('the peak of a process is read from its status, and there is none for a process that is gone', (t) => {
  t.is(parsePeak('Name:\tx\nVmPeak:\t  900 kB\nVmHWM:\t     812 kB\nVmRSS:\t     100 kB\n'), 812 * 1024);
  t.is(parsePeak('Name:\tx\nState:\tZ (zombie)\n'), undefined);
  t.true((readPeak(process.pid) ?? 0) > 2 ** 20);
  t.is(readPeak(2 ** 22 + 1), undefined);
});

test('a process whose map cannot be read counts with its resident memory, and one that is there with at most that', (t) => {
  t.is(proportionalBytes([{ pid: 2 ** 22 + 1, residentBytes: 5 }]), 5);
  const { rss } = process.memoryUsage();
  const bytes = proportionalBytes([{ pid: process.pid, residentBytes: rss }]);
  t.true(bytes > 0 && bytes < 2 * rss, `${bytes} of ${rss}`);
});
