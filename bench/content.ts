// A large file from home through the relay to an agent, and back: rate, hash, memory.
import { createHash, randomFillSync } from 'node:crypto';
import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Root } from '@mutirao/api/common';
import { Grid, taskGroup } from '@mutirao/testkit';
import { atLeast, below, option, plain, report, watchMemory, type Figure } from './harness.ts';

const mebibytes = option('mebibytes', 1024);
const folder = mkdtempSync(join(tmpdir(), 'mutirao-content-'));
const home = join(folder, 'home.bin');
const back = join(folder, 'back.bin');

function writeRandom(path: string): void {
  const block = Buffer.alloc(1 << 20);
  const file = openSync(path, 'w');
  for (let index = 0; index < mebibytes; index++) writeSync(file, randomFillSync(block));
  closeSync(file);
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

writeRandom(home);
const grid = await Grid.start({ machines: [1], agentArgs: ['--shared', 'none', '--storage', `${mebibytes * 4}MiB`] });
try {
  await grid.client.waitMachines(1);
  const pids = { broker: grid.broker.pid, provider: grid.providers[0]?.pid ?? 0, agent: grid.agents[0]?.pid ?? 0 };
  const input = {
    source: { source: { $case: 'localPath' as const, value: home } },
    root: Root.STORAGE,
    path: 'file.bin',
    condition: '',
  };
  const output = { root: Root.STORAGE, path: 'file.bin', localPath: back, condition: '' };

  const peakOfPut = watchMemory(pids);
  const putStart = Date.now();
  const put = await grid.client.submit([taskGroup('true', 1, { inputs: [input] })]);
  await grid.client.waitEnded(put, 300_000);
  const [task] = await grid.client.tasks(put);
  const putSeconds = ((task?.replicas[0]?.startedUnixMs ?? NaN) - putStart) / 1000;
  const abovePut = peakOfPut();

  const peakOfGet = watchMemory(pids);
  const get = await grid.client.submit([taskGroup('true', 1, { outputs: [output] })]);
  const getStart = Date.now();
  await grid.client.waitEnded(get, 300_000);
  const getSeconds = (Date.now() - getStart) / 1000;
  const aboveGet = peakOfGet();

  const same = (await sha256(home)) === (await sha256(back));
  const memory: Figure[] = Object.keys(pids).map((name) =>
    below(`${name}, memory above idle`, Math.max(abovePut[name] ?? 0, aboveGet[name] ?? 0), 'MiB', 64),
  );
  report(`a file of ${mebibytes} MiB`, [
    atLeast('home to agent, hashing at home included', (mebibytes * 1.048576) / putSeconds, 'MB/s', 150),
    atLeast('agent to home, in place', (mebibytes * 1.048576) / getSeconds, 'MB/s', 150),
    plain('it came back the same (1 yes)', same ? 1 : 0, ''),
    ...memory,
  ]);
  if (!same) process.exitCode = 1;
} finally {
  await grid.stop();
  rmSync(folder, { recursive: true, force: true });
}
