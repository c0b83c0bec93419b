// What a task writes is seen while it runs, each byte once, also where the broker and the provider are killed
// meanwhile; who reads it holds nothing up.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { JobStatus, TaskStatus } from '@mutirao/api/broker';
import { runCommand, startPiped } from '@mutirao/runtime/processes';
import { listMessages } from '@mutirao/runtime/rpc';
import { Grid, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

const commandLine = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

test.serial(
  'a follower sees each line while the task runs, once, also across a killed broker and a killed provider',
  async (t) => {
    const folder = temporaryFolder(t);
    const grid = await Grid.start({ machines: [1] });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(1);
    const command = (...words: readonly string[]): readonly string[] => [
      commandLine,
      ...words,
      '--home',
      grid.home,
      '--broker',
      grid.broker.address,
    ];
    const submitted = await runCommand({
      command: process.execPath,
      args: [
        ...command('job', 'submit', '--replicas', '1'),
        '--',
        `for i in 1 2 3 4; do echo line $i; until [ -e ${folder}/go-$i ]; do sleep 0.02; done; done; echo end >&2`,
      ],
      cwd: folder,
      deadlineMs: 60_000,
      outputBytesMax: 65_536,
    });
    t.is(submitted.status, 0, submitted.stderr.toString());
    let seen = '';
    const { promise: closed, resolve: close } = Promise.withResolvers<number>();
    const follower = startPiped({
      command: process.execPath,
      args: command('task', 'output', '1', '0', '--follow'),
      env: process.env as Record<string, string>,
      cwd: folder,
      onClosed: (exit) => {
        close(exit.status);
      },
    });
    follower.standardOutput.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
    });
    const goOn = (step: number): void => {
      writeFileSync(join(folder, `go-${step}`), '');
    };
    await until(() => seen === 'line 1\n', 'the first line is seen while the task runs');
    await grid.broker.crash();
    goOn(1);
    await until(() => seen === 'line 1\nline 2\n', 'the next broker goes on');
    await grid.providers[0]?.crash();
    goOn(2);
    await until(() => seen === 'line 1\nline 2\nline 3\n', 'the next provider goes on');
    goOn(3);
    await until(() => seen.endsWith('line 4\n'), 'the last line is seen before the end');
    t.false(existsSync(join(folder, 'go-4')));
    goOn(4);
    t.is(await closed, 0);
    t.is(seen, 'line 1\nline 2\nline 3\nline 4\n');
  },
);

test.serial('a reader that takes nothing and one that leaves hold no task up', async (t) => {
  const grid = await Grid.start({ machines: [1] });
  t.teardown(() => grid.stop());
  await grid.client.waitMachines(1);
  const jobId = await grid.client.submit([taskGroup('yes 0123456789 | head -c 100000000; echo the end', 1)]);
  const place = { jobId, taskIndex: 0, replicaId: 0, standardOutputOffset: 0, standardErrorOffset: 0 };
  const stuck = grid.client.raw.tailTaskOutput(place);
  stuck.on('error', () => undefined);
  stuck.pause();
  for await (const { standardOutput } of listMessages(grid.client.raw.tailTaskOutput(place)))
    if (standardOutput.length > 0) break;
  t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
  stuck.cancel();
  let [last, text] = [TaskStatus.UNSPECIFIED as TaskStatus, ''];
  for await (const { status, standardOutput } of listMessages(grid.client.raw.tailTaskOutput(place))) {
    last = status;
    text = standardOutput.length === 0 ? text : standardOutput.toString();
  }
  t.is(last, TaskStatus.FINISHED);
  t.true(text.endsWith('the end\n'));
});
