import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { boundLogs } from '../../../src/grid/bound-logs.ts';

test('a log stays bounded while its process goes on writing, and its former part is kept for its account alone', (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'broker.log');
  const file = openSync(path, 'a', 0o600);
  t.teardown(() => {
    closeSync(file);
  });
  for (let line = 0; line < 1000; line += 1) {
    writeSync(file, `line ${line} ${'x'.repeat(90)}\n`);
    boundLogs(folder, 10_000);
  }
  t.deepEqual(readdirSync(folder).sort(), ['broker.log', 'broker.log.1']);
  t.true(statSync(path).size <= 10_000);
  t.true(statSync(`${path}.1`).size <= 10_200);
  t.is(statSync(`${path}.1`).mode & 0o777, 0o600);
  const lines = `${readFileSync(`${path}.1`, 'utf8')}${readFileSync(path, 'utf8')}`.trimEnd().split('\n');
  t.is(lines.at(-1)?.split(' ')[1], '999');
  t.deepEqual(
    lines.map((line) => Number(line.split(' ')[1])),
    Array.from({ length: lines.length }, (_, index) => 1000 - lines.length + index),
  );
});

test('where the former part cannot be kept, the log is cut all the same, and other files stay', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'up.log'), 'x'.repeat(100));
  writeFileSync(join(folder, 'notes.txt'), 'x'.repeat(100));
  mkdirSync(join(folder, 'up.log.1', 'in-the-way'), { recursive: true });
  t.notThrows(() => {
    boundLogs(folder, 10);
  });
  t.is(statSync(join(folder, 'up.log')).size, 0);
  t.is(statSync(join(folder, 'notes.txt')).size, 100);
  t.notThrows(() => {
    boundLogs(join(folder, 'absent'), 10);
  });
});
