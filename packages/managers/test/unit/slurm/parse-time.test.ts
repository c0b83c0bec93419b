import test from 'ava';
import { parseInstant, parseWalltime } from '../../../src/slurm/parse-time.ts';

const second = 1000;
const hour = 3600 * second;

test('a walltime is read in each way that Slurm writes it', (t) => {
  t.is(parseWalltime('1:00'), 60 * second);
  t.is(parseWalltime('0:30'), 30 * second);
  t.is(parseWalltime('10:00'), 600 * second);
  t.is(parseWalltime('02:00:05'), 2 * hour + 5 * second);
  t.is(parseWalltime('1-02:04:00'), 26 * hour + 240 * second);
  t.is(parseWalltime('7-00:00:00'), 168 * hour);
  t.is(parseWalltime('2-12'), 60 * hour);
  t.is(parseWalltime('2-12:30'), 60.5 * hour);
  t.is(parseWalltime('90'), 90 * 60 * second);
});

test('a malformed walltime is undefined', (t) => {
  for (const words of [
    'UNLIMITED',
    'NOT_SET',
    'INVALID',
    'Partition_Limit',
    '',
    '-1',
    '1:2:3:4',
    '1 day',
    '999999999999999-00:00:00',
  ])
    t.is(parseWalltime(words), undefined, words);
});

test('an instant is read as universal time, and a malformed one as 0', (t) => {
  t.is(parseInstant('2026-11-20T18:59:45'), 1_795_201_185_000);
  for (const words of ['N/A', 'Unknown', 'None', '', '2026-99-20T18:59:45', '18:59:45'])
    t.is(parseInstant(words), 0, words);
});
