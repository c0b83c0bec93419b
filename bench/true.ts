// /bin/true as tasks on one machine, against xargs -P of the same width, the two in turn.
import { cpus } from 'node:os';
import { Grid, taskGroup } from '@mutirao/testkit';
import { atLeast, median, option, plain, report, findSeconds } from './harness.ts';

const tasks = option('tasks', 4000);
const rounds = option('rounds', 5);
const width = option('width', cpus().length);
const grid = await Grid.start({ machines: [width] });
try {
  await grid.client.waitMachines(1);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now();
    const jobId = await grid.client.submit([taskGroup('/bin/true', tasks)]);
    const job = await grid.client.waitEnded(jobId, 300_000);
    if (job.finishedCount !== tasks) throw new Error(`${job.finishedCount} of ${tasks} finished`);
    const rate = tasks / ((performance.now() - start) / 1000);
    const rateOfXargs = tasks / findSeconds('sh', ['-c', `seq ${tasks} | xargs -n 1 -P ${width} /bin/true`]);
    if (round === 0) continue; // The first of each warms caches.
    ours.push(rate);
    theirs.push(rateOfXargs);
  }
  const ratio = median(ours.map((rate, index) => rate / (theirs[index] ?? NaN)));
  report('/bin/true tasks', [
    atLeast(`our rate over that of xargs -P ${width}, median of ${rounds} pairs`, ratio, 'times', 1.3),
    plain('our rate, median', median(ours), 'tasks/s'),
    plain('rate of xargs, median', median(theirs), 'tasks/s'),
  ]);
} finally {
  await grid.stop();
}
