import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { writeInPlace, writeNamed } from '../../../src/output/write-named.ts';

test('a file is written whole, its folder made', (t) => {
  const folder = temporaryFolder(t);
  writeNamed(join(folder, 'new', 'file'), 'text');
  t.is(readFileSync(join(folder, 'new', 'file'), 'utf8'), 'text');
  t.deepEqual(readdirSync(join(folder, 'new')), ['file']);
});

test('what is written in place stays the file that it was', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'file'), 'what was there before');
  symlinkSync(join(folder, 'file'), join(folder, 'link'));
  const { ino } = statSync(join(folder, 'file'));
  writeInPlace(join(folder, 'link'), 'text');
  t.is(readFileSync(join(folder, 'file'), 'utf8'), 'text');
  t.is(statSync(join(folder, 'link')).ino, ino);
});

test('a place that cannot be written is told with its path', (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'taken'));
  for (const write of [writeNamed, writeInPlace]) {
    t.throws(() => { write(join(folder, 'taken'), 'text'); }, { code: 'MUT_BAD_REQUEST', message: new RegExp(`^cannot write ${folder}/taken: E`) });
  }
  t.deepEqual(readdirSync(folder), ['taken'], 'nothing is left of the trial');
});
