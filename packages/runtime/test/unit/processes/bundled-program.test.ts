// Bundles are what is run only while they hold what the sources say.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { findBundles } from '../../../src/processes/bundled-program.ts';

const sources = [
  'packages/one/src/main.ts',
  'packages/one/src/deep/er/part.ts',
  'packages/two/src/index.ts',
  'packages/web/src/index.ts',
  'packages/web/client/src/charts/chart.ts',
  'proto/v1/api.proto',
  'scripts/packing/bundle.mjs',
  'package-lock.json',
];
// Far ahead and long ago, in seconds: a file's second time is when it was made here, which no test sets.
const [longAgo, builtAt, later] = [1000, 10_000_000_000, 10_000_001_000];

/** A checkout whose bundles are newer than all that is in it. */
function checkout(t: ExecutionContext): string {
  const root = temporaryFolder(t);
  for (const path of [...sources, '.cache/programs/built']) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  for (const path of [
    ...sources,
    ...new Set(sources.map(dirname)),
    'packages/one/src',
    'packages/one/src/deep',
    'packages/web/client/src',
    'proto',
  ])
    utimesSync(join(root, path), longAgo, longAgo);
  utimesSync(join(root, '.cache/programs/built'), builtAt, builtAt);
  return root;
}

test('bundles that are newer than every source are found', (t) => {
  const root = checkout(t);
  t.is(findBundles(root), join(root, '.cache/programs'));
});

test('bundles that were never made are not', (t) => {
  const root = checkout(t);
  rmSync(join(root, '.cache'), { recursive: true });
  t.is(findBundles(root), undefined);
});

for (const path of [...sources, 'packages/one/src/deep/er']) {
  test(`bundles are stale once ${path} changes`, (t) => {
    const root = checkout(t);
    utimesSync(join(root, path), later, later);
    t.is(findBundles(root), undefined);
  });
}

test('a change in the instant in which they were begun makes them stale', (t) => {
  const root = checkout(t);
  utimesSync(join(root, 'proto/v1/api.proto'), builtAt, builtAt);
  t.is(findBundles(root), undefined);
});

test('a file of an old release that was moved there since makes them stale', (t) => {
  const root = checkout(t);
  utimesSync(join(root, '.cache/programs/built'), longAgo + 1, longAgo + 1);
  t.is(findBundles(root), undefined);
});
