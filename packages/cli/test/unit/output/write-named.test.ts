import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { writeNamed } from '../../../src/output/write-named.ts';

test('a file is written whole, its folder made', (t) => {
  const folder = temporaryFolder(t);
  writeNamed(join(folder, 'new', 'file'), 'text');
  t.is(readFileSync(join(folder, 'new', 'file'), 'utf8'), 'text');
  t.deepEqual(readdirSync(join(folder, 'new')), ['file']);
});

test('where a link leads to a file, the file is written and the link stays', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'file'), 'what was there before');
  symlinkSync('file', join(folder, 'link'));
  writeNamed(join(folder, 'link'), 'text');
  t.is(readFileSync(join(folder, 'file'), 'utf8'), 'text');
  t.is(readlinkSync(join(folder, 'link')), 'file');
  t.deepEqual(readdirSync(folder), ['file', 'link']);
});

test('a pipe is written to and not replaced', (t) => {
  const folder = temporaryFolder(t);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  writeNamed(pipe, 'text');
  const read = Buffer.alloc(8);
  t.is(read.toString('utf8', 0, readSync(reader, read)), 'text');
  closeSync(reader);
  t.true(statSync(pipe).isFIFO());
});

test('a place that cannot be written is reported with its path', (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'taken'));
  t.throws(
    () => {
      writeNamed(join(folder, 'taken'), 'text');
    },
    { code: 'MUT_BAD_REQUEST', message: new RegExp(`^cannot write ${folder}/taken: E`) },
  );
  t.deepEqual(readdirSync(folder), ['taken'], 'nothing is left of the trial');
});
