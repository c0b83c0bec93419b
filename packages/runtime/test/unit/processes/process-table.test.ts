import test from 'ava';
import { parseStat } from '../../../src/processes/process-table.ts';

const fields = (state: string): string =>
  `${state} 1 4242 4242 0 -1 4194560 97 0 0 0 0 0 0 0 20 0 1 0 86000 2600960 3 18446744073709551615`;

test('a name with blanks and parentheses does not shift the fields of a process', (t) => {
  const row = parseStat(`4711 (a ) b (c) ${fields('S')}`);
  t.like(row, { pid: 4711, pgid: 4242, startedTicks: 86000 });
  t.true((row?.residentBytes ?? 0) >= 3 * 4096);
});

test('processor time is read for the process itself and for its children that have ended', (t) => {
  const row = parseStat(
    '4711 (x) S 1 4242 4242 0 -1 4194560 97 0 0 0 120 30 700 5 20 0 1 0 86000 2600960 3 18446744073709551615',
  );
  t.like(row, { processorMs: 1500, waitedMs: 7050 });
});

test('a zombie and a process that is gone have no row', (t) => {
  t.is(parseStat(`4711 (x) ${fields('Z')}`), undefined);
  t.is(parseStat(''), undefined);
});
