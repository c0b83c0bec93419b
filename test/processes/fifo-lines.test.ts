import { execFileSync, spawn } from 'node:child_process';
import { constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import test from 'ava';
import { FifoLines } from '@mutirao/runtime/processes';

test('lines of any length reach the reader of a FIFO whole and in order, also where it is slow to begin', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'mutirao-fifo-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const fifo = join(folder, 'in');
  execFileSync('mkfifo', [fifo]);
  const lines = new FifoLines(openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK));
  const texts = [`${'日'.repeat(25_000)}\n`, 'short\n', `${'😀'.repeat(40_000)}\n`, 'last\n'];
  for (const text of texts) lines.write(text);
  const reader = spawn('/bin/sh', ['-c', 'head -n 4 <"$0"', fifo], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pieces: Buffer[] = [];
  for await (const piece of reader.stdout) pieces.push(piece as Buffer);
  t.is(Buffer.concat(pieces).toString(), texts.join(''));
  lines.close();
});
