// A bag across containers that share no file system, while containers are killed. scripts/compose-test starts the grid.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { until } from '@mutirao/testkit';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

async function compose(...args: string[]): Promise<string> {
  return (await run('docker-compose', args, { cwd: root, maxBuffer: 1 << 26 })).stdout;
}

async function onHome(script: string): Promise<string> {
  return compose('exec', '-T', 'home', 'sh', '-c', script);
}

interface Job { readonly job_id: number; readonly status: string; readonly finished_count: number }

async function job(id: string): Promise<Job> {
  const [found] = JSON.parse(await onHome(`mutirao job show ${id} --json`)) as Job[];
  if (found === undefined) throw new Error(`job ${id} is not shown`);
  return found;
}

test.serial('a bag with files runs on every container, and its results come home', async (t) => {
  await until(async () => {
    const machines = await onHome('mutirao machine list').catch(() => '');
    return machines.includes('lab/pc1') && machines.includes('lab/pc2');
  }, 'both lab machines join', 60_000);
  await onHome('mkdir -p bag && cd bag && echo from-home > input.txt');
  const id = (await onHome(
    'cd bag && mutirao job submit --quiet --array 1-60 --put input.txt --get out.{}:results/out.{} --'
    + " sh -c 'sleep 0.2; echo {} $(cat input.txt) $PROC > out.{}'",
  )).trim();
  await onHome(`mutirao job wait ${id}`);
  const results = (await onHome('cat bag/results/out.*')).trim().split('\n');
  t.is(results.length, 60);
  t.true(results.every((line) => line.includes('from-home')));
  for (const machine of ['lab/pc1', 'lab/pc2', 'alpha/']) t.true(results.some((line) => line.includes(machine)), `nothing ran on ${machine}`);
  const homeFiles = await compose('exec', '-T', 'pc1', 'sh', '-c', 'ls /home/mutirao');
  t.notRegex(homeFiles, /bag/, 'the containers share a file system');
});

test.serial('containers are killed in mid-job: home, a machine and the cluster; the job finishes', async (t) => {
  const id = (await onHome("mutirao job submit --quiet --array 1-80 -- sh -c 'sleep 0.5; echo {}'")).trim();
  await until(async () => (await job(id)).finished_count >= 5, 'the job is under way', 60_000);
  for (const service of ['pc2', 'cluster', 'front-end', 'home']) {
    // The process inside dies as by kill -9; init ends with it, and the restart policy starts the container again.
    await compose('exec', '-T', service, 'sh', '-c', "kill -9 $(pgrep -f 'src/main.ts' | head -n 1)").catch(() => undefined);
  }
  await until(async () => (await onHome('mutirao job list --json').catch(() => '')).includes('job_id'), 'the broker is back', 60_000);
  await until(async () => (await job(id).catch(() => undefined))?.status === 'finished', 'the job finishes', 120_000);
  t.is((await job(id)).finished_count, 80);
});
