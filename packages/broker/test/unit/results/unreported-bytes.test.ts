import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import test from 'ava';

import { temporaryFolder } from '@mutirao/testkit';

import { UnreportedBytes } from '../../../src/results/unreported-bytes.ts';

const quotas = { ownerId: 'ana', rules: [{ userId: '', name: 'machine-bytes', amount: 100 }] } as const;

test('a machine may bring a number of bytes for each of its tasks, and reported or removed ones do not count', (t) => {
  let tasks = 0;
  const unreported = new UnreportedBytes({ quotas, tasksOn: () => tasks });
  unreported.begin('alpha/m', '/a', 100);
  t.throws(
    () => {
      unreported.begin('alpha/m', '/b', 1);
    },
    { code: 'MUT_MACHINE_QUOTA' },
  );
  unreported.begin('alpha/other', '/c', 100);
  tasks = 2;
  unreported.begin('alpha/m', '/b', 50);
  t.deepEqual(unreported.mostUsed(), { name: 'machine-bytes', used: 150, allowed: 100 });
  for (const path of ['/a', '/a', '/b']) unreported.release(path);
  t.is(unreported.getBytes('alpha/m'), 0);
});

test('what nobody reported within a day makes room, and what is arriving stays', (t) => {
  const folder = temporaryFolder(t);
  const [old, fresh] = [join(folder, 'old'), join(folder, 'fresh')];
  for (const path of [old, fresh]) writeFileSync(path, 'x');
  let now = 0;
  const unreported = new UnreportedBytes({ quotas, clock: { now: () => now } });
  unreported.keep('alpha/m', old, 40);
  unreported.begin('alpha/m', fresh, 40);
  t.throws(
    () => {
      unreported.begin('alpha/m', '/next', 60);
    },
    { code: 'MUT_MACHINE_QUOTA' },
  );
  now = 25 * 3_600_000;
  unreported.begin('alpha/m', '/next', 60);
  t.deepEqual([existsSync(old), existsSync(fresh)], [false, true]);
});
