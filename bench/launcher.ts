// Rate of /bin/true through the agent's launchers against `xargs -P` of the same width, turn about in one run.
// Usage: node bench/launcher.ts [--tasks N] [--rounds N] [--width N]. Prints one JSON object.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Launchers, Watchdog } from '@mutirao/runtime/processes';

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '5' },
    width: { type: 'string', default: String(availableParallelism()) },
  },
});
const [tasks, rounds, width] = [Number(values.tasks), Number(values.rounds), Number(values.width)];
const folder = mkdtempSync(path.join(tmpdir(), 'mutirao-bench-'));

function xargs(): number {
  const begin = performance.now();
  execFileSync('xargs', ['-n1', `-P${width}`, '/bin/true'], { input: 'x\n'.repeat(tasks) });
  return (tasks / (performance.now() - begin)) * 1000;
}

/** Each task has a playpen to itself, which is looked through afterwards, its output read and its status checked. */
async function launchers(watchdog: Watchdog): Promise<number> {
  const playpens = Array.from({ length: width }, (_, slot) => path.join(folder, `playpen-${slot}`));
  for (const playpen of playpens) mkdirSync(playpen, { recursive: true });
  const done = Promise.withResolvers<undefined>();
  let next = 0;
  let ended = 0;
  const launch = (slot: number): void => {
    const task = next++;
    const launched = {
      folder: playpens[slot] ?? '',
      line: '/bin/true',
      command: '/bin/true',
      environment: `JOB=1 TASK=${task}`,
      exports: 'STORAGE=/storage',
    };
    if (task < tasks) set.launch(slot, launched);
  };
  const set = await Launchers.open({
    folder: path.join(folder, 'launchers'),
    width,
    watchdog,
    environment: { PATH: '/usr/bin:/bin' },
    onEnded: (slot, { status }) => {
      if (status !== 0) done.reject(new Error(`a task ended with ${status}`));
      readdirSync(playpens[slot] ?? '');
      ended++;
      if (ended === tasks) done.resolve(undefined);
      launch(slot);
    },
  });
  const begin = performance.now();
  for (let slot = 0; slot < width; slot++) launch(slot);
  await done.promise;
  const rate = (tasks / (performance.now() - begin)) * 1000;
  set.close();
  return rate;
}

const watchdog = new Watchdog();
const runs: { xargs: number; launchers: number }[] = [];
for (let round = 0; round < rounds; round++)
  runs.push({ xargs: Math.round(xargs()), launchers: Math.round(await launchers(watchdog)) });
watchdog.close();
rmSync(folder, { recursive: true, force: true });
const ratios = runs.map((run) => run.launchers / run.xargs).sort((a, b) => a - b);
console.log(
  JSON.stringify({
    bench: 'launcher',
    tasks,
    width,
    cpu: cpus()[0]?.model,
    cores: availableParallelism(),
    node: process.version,
    runs_per_s: runs,
    ratio_median: Number((ratios[Math.floor(ratios.length / 2)] ?? 0).toFixed(3)),
    ratio_min: Number((ratios[0] ?? 0).toFixed(3)),
  }),
);
