import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { temporaryFolder } from '@mutirao/testkit';
import { framing, readAnswer, readEnd } from '../../../src/gridscript/answers.ts';
import { lookScript, placeScript, runScript } from '../../../src/gridscript/scripts.ts';

test('a run begins once, however often the machine is asked to begin it', async (t) => {
  const base = temporaryFolder(t);
  const run = join(base, 'runs', '1');
  mkdirSync(run, { recursive: true });
  const folders = { base, run, playpen: join(run, 'playpen'), storage: join(base, 'storage') };
  const perform = async (script: string) => {
    const { status, stdout } = await runCommand({
      command: '/bin/sh',
      args: ['-c', framing('T') + script],
      deadlineMs: 20_000,
    });
    return { status, answer: readAnswer(stdout, 'T') };
  };
  const script = runScript(folders, `echo began >>${base}/lives`, '');
  t.is((await perform(script)).status, 0);
  t.like(await perform(script), { status: 1, answer: undefined });
  t.is(readFileSync(join(base, 'lives'), 'utf8'), 'began\n');
  const { answer = Buffer.alloc(0) } = await perform(lookScript(folders));
  t.is(readEnd(answer)?.status, 0);
});

test('a content with the right size and other bytes has not arrived, also where another program must compute the hash', async (t) => {
  const base = temporaryFolder(t);
  const sha256 = createHash('sha256').update('right').digest('hex');
  mkdirSync(join(base, 'contents'));
  const folders = { base, run: join(base, 'run'), playpen: join(base, 'run/playpen'), storage: join(base, 'storage') };
  const script = placeScript(folders, [{ sha256, size: 5, root: 'playpen', path: 'in', mode: 0o644 }], []);
  const perform = async (content: string, path: string) => {
    rmSync(join(base, 'contents', sha256), { force: true });
    writeFileSync(join(base, 'contents', `${sha256}.part`), content);
    const { stdout } = await runCommand({
      command: '/bin/sh',
      args: ['-c', framing('T') + script],
      env: { PATH: path },
      deadlineMs: 20_000,
    });
    return readAnswer(stdout, 'T')?.toString().trim();
  };
  const bare = join(base, 'bin');
  mkdirSync(bare);
  for (const name of ['wc', 'mv', 'mkdir', 'cmp', 'chmod', 'cp', 'cat', 'rm', 'pwd', 'readlink'])
    symlinkSync(`/usr/bin/${name}`, join(bare, name));
  t.is(await perform('wrong', '/usr/bin:/bin'), `missing ${sha256}`);
  t.is(await perform('right', '/usr/bin:/bin'), 'ok');
  t.is(await perform('wrong', bare), 'ok', 'without a program that hashes, equal sizes suffice');
  t.is(await perform('longer', bare), `missing ${sha256}`);
  for (const [name, body] of [
    ['shasum', 'exec /usr/bin/sha256sum'],
    ['openssl', 'exec /usr/bin/sha256sum'],
  ] as const) {
    writeFileSync(join(bare, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    t.is(await perform('wrong', bare), `missing ${sha256}`, name);
    rmSync(join(bare, name));
  }
});
