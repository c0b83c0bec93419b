import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import {
  isVariableName,
  ProgramFinder,
  quoteWord,
  renderAssignments,
  renderCommand,
} from '../../../src/processes/shell-words.ts';

const find = (name: string): string | undefined => (name === 'tool' ? '/opt/bin/tool' : undefined);

test('a line of plain words runs without a shell of its own', (t) => {
  t.is(renderCommand('/bin/true', find), '/bin/true');
  t.is(renderCommand('  tool -n 3\ta=b 50% x@y  ', find), '/opt/bin/tool -n 3\ta=b 50% x@y');
  t.is(renderCommand('./run.sh in.txt', find), './run.sh in.txt');
});

test('a line that may mean something to a shell goes to one', (t) => {
  for (const line of [
    'echo hi',
    'A=/x tool',
    'tool $X',
    'tool "a"',
    'tool *',
    'tool ~',
    'tool; tool',
    'tool >f',
    'tool # x',
    'a\ntool',
    'tool {1}',
    '',
  ]) {
    t.is(renderCommand(line, find), line === '' ? `/bin/sh -c ''` : `/bin/sh -c ${quoteWord(line)}`, line);
  }
});

test('a quoted word is one word to a shell', (t) => {
  t.is(quoteWord('/a/b-c_1.txt'), '/a/b-c_1.txt');
  t.is(quoteWord(''), `''`);
  t.is(quoteWord('a b'), `'a b'`);
  t.is(quoteWord(`it's`), `'it'\\''s'`);
  t.is(quoteWord('a\nb'), `'a\nb'`);
  t.is(quoteWord('ab\n'), `'ab\n'`);
});

test('assignments are quoted, and names that no shell takes are left out', (t) => {
  t.is(renderAssignments({ JOB: '1', NOTE: 'two words', 'not-a-name': 'x', '2nd': 'y' }), `JOB=1 NOTE='two words'`);
  t.false(isVariableName('A\n'));
});

test('a program is looked for again each time, in the order of PATH, and one that cannot be executed is passed over', (t) => {
  const folder = temporaryFolder(t);
  const [early, late] = ['early', 'late'].map((name) => path.join(folder, name)) as [string, string];
  for (const each of [early, late]) mkdirSync(each);
  const finder = new ProgramFinder(`${early}:${late}`);
  const write = (where: string, mode: number): void => {
    writeFileSync(path.join(where, 'tool'), '#!/bin/sh\n');
    chmodSync(path.join(where, 'tool'), mode);
  };
  t.is(finder.find('tool'), undefined);
  write(late, 0o755);
  t.is(finder.find('tool'), path.join(late, 'tool'));
  write(early, 0o644);
  t.is(finder.find('tool'), path.join(late, 'tool'));
  write(early, 0o755);
  t.is(finder.find('tool'), path.join(early, 'tool'));
  rmSync(path.join(early, 'tool'));
  t.is(finder.find('tool'), path.join(late, 'tool'));
  rmSync(path.join(late, 'tool'));
  t.is(finder.find('tool'), undefined);
});

test('a program that a relative folder of PATH may hold first is left to the shell', (t) => {
  t.is(new ProgramFinder('.:/bin').find('ls'), undefined);
  t.is(new ProgramFinder(':/bin').find('ls'), undefined);
  t.is(new ProgramFinder('/bin:.').find('ls'), '/bin/ls');
});
