import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { temporaryFolder } from '@mutirao/testkit';
import { framing, readAnswer, readEnd } from '../../../src/gridscript/answers.ts';
import { lookScript, runScript } from '../../../src/gridscript/scripts.ts';

test('a run begins once, however often the machine is asked to begin it', async (t) => {
  const base = temporaryFolder(t);
  const run = join(base, 'runs', '1');
  mkdirSync(run, { recursive: true });
  const folders = { base, run, playpen: join(run, 'playpen'), storage: join(base, 'storage') };
  const perform = async (script: string) => {
    const { status, stdout } = await runCommand({ command: '/bin/sh', args: ['-c', framing('T') + script], deadlineMs: 20_000 });
    return { status, answer: readAnswer(stdout, 'T') };
  };
  const script = runScript(folders, `echo began >>${base}/lives`, '');
  t.is((await perform(script)).status, 0);
  t.like(await perform(script), { status: 1, answer: undefined });
  t.is(readFileSync(join(base, 'lives'), 'utf8'), 'began\n');
  const { answer = Buffer.alloc(0) } = await perform(lookScript(folders));
  t.is(readEnd(answer)?.status, 0);
});
