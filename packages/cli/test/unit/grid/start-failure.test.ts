import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { describeEnd } from '../../../src/grid/start-failure.ts';

const lots = 1024 ** 3;

test('a grid that ends without a word while the disk is full is said to have had no room', (t) => {
  const log = join(temporaryFolder(t), 'up.log');
  t.is(describeEnd(log, 70, 0).code, 'MUT_DISK_FULL');
  writeFileSync(log, 'Starting the grid.\n');
  t.is(describeEnd(log, 70, 4096).code, 'MUT_DISK_FULL');
  const elsewhere = describeEnd(log, 70, lots);
  t.is(elsewhere.code, 'MUT_UNREACHABLE');
  t.regex(elsewhere.message, /ended with status 70.*Starting the grid/s);
});

test('what it said itself goes first', (t) => {
  const log = join(temporaryFolder(t), 'up.log');
  writeFileSync(log, 'error: MUT_PATH_UNUSABLE /x is a file\n');
  t.is(describeEnd(log, 2, 0).code, 'MUT_PATH_UNUSABLE');
});
