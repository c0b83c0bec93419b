import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import { parsePeak, parseRollup, proportionalBytes, readPeak } from '@mutirao/runtime/processes';
import { temporaryFolder } from '@mutirao/testkit';

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

test('a process whose map cannot be read counts with its resident memory, and one that has ended with nothing', (t) => {
  const procfs = temporaryFolder(t);
  mkdirSync(join(procfs, '1'));
  const ended = { pid: 2, residentBytes: 70 };
  t.is(proportionalBytes([{ pid: 1, residentBytes: 5 }, ended], procfs), 5);
});

test('what a process shared counts once where it ends while the shares are read', (t) => {
  const procfs = temporaryFolder(t);
  const shares = [1, 2, 3].map((pid) => join(procfs, String(pid), 'smaps_rollup'));
  for (const path of shares) mkdirSync(dirname(path));
  const [first = '', second = '', third = ''] = shares;
  for (const path of [first, third]) writeFileSync(path, 'Pss: 4 kB\n');
  // The first ends while the map of the second is read.
  const processes = [
    { pid: 1, residentBytes: 0 },
    {
      get pid() {
        rmSync(dirname(first), { recursive: true, force: true });
        return 2;
      },
      residentBytes: 0,
    },
    { pid: 3, residentBytes: 0 },
  ];
  writeFileSync(second, 'Pss: 6 kB\n');
  t.is(proportionalBytes(processes, procfs), 10 * 1024);
});

test('a process that is there counts with at most its resident memory', (t) => {
  const { rss } = process.memoryUsage();
  const bytes = proportionalBytes([{ pid: process.pid, residentBytes: rss }]);
  t.true(bytes > 0 && bytes < 2 * rss, `${bytes} of ${rss}`);
});
