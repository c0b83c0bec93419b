// A chain of tasks each of which reads what the one before wrote, on a machine that shares no file system with home.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '@mutirao/runtime/processes';
import { Grid, readMetrics } from '@mutirao/testkit';
import { below, option, plain, report } from './harness.ts';

const mebibytes = option('mebibytes', 64);
const tasksCount = option('tasks', 8);
const commandLine = fileURLToPath(new URL('../packages/cli/bin/mutirao.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mutirao-chain-'));

/** Bytes that the broker has sent to machines and brought home. */
async function stagedBytes(grid: Grid): Promise<{ readonly out: number; readonly in: number }> {
  const text = await readMetrics(grid.home);
  const bytes = (direction: string): number =>
    Number(
      new RegExp(`^mutirao_broker_staged_bytes_total\\{direction="${direction}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
    );
  return { out: bytes('out'), in: bytes('in') };
}

const tasks = [`  t0: {command: 'head -c ${mebibytes << 20} /dev/urandom > f0', outputs: [f0]}`];
// Another content each time, so that none is known from before.
for (let index = 1; index < tasksCount; index++)
  tasks.push(
    `  t${index}: {command: '(tail -c +2 f${index - 1}; printf x) > f${index}', inputs: [f${index - 1}], ` +
      `outputs: [f${index}]}`,
  );
writeFileSync(join(folder, 'chain.yaml'), `tasks:\n${tasks.join('\n')}\n`);

const grid = await Grid.start({ machines: [1], agentArgs: ['--shared', 'none'] });
try {
  await grid.client.waitMachines(1);
  const start = performance.now();
  const { status, stderr } = await runCommand({
    command: process.execPath,
    args: [
      commandLine,
      'job',
      'submit',
      'chain.yaml',
      '--replicas',
      '1',
      '--wait',
      '--home',
      grid.home,
      '--broker',
      grid.broker.address,
    ],
    cwd: folder,
    deadlineMs: 600_000,
    outputBytesMax: 1 << 20,
  });
  if (status !== 0) throw new Error(stderr.toString());
  const seconds = (performance.now() - start) / 1000;
  const bytes = await stagedBytes(grid);
  report(`a chain of ${tasksCount} tasks that pass ${mebibytes} MiB`, [
    plain('time, the command line included', seconds, 's'),
    below('sent to the machine', bytes.out / 2 ** 20, 'MiB', 1),
    plain('brought home', bytes.in / 2 ** 20, 'MiB'),
  ]);
} finally {
  await grid.stop();
  rmSync(folder, { recursive: true, force: true });
}
