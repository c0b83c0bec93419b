// /bin/true as tasks that are isolated with bubblewrap, against the same without, the two in turn on one machine.
import { cpus } from 'node:os';
import { Grid, taskGroup } from '@mutirao/testkit';
import { median, option, plain, report } from './harness.ts';

const tasks = option('tasks', 1000);
const rounds = option('rounds', 5);
const width = option('width', cpus().length);
const kinds = ['none', 'bubblewrap'] as const;
const grids = await Promise.all(kinds.map((kind) => Grid.start({ machines: [width], agentArgs: ['--isolation', kind] })));
try {
  const rates = kinds.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, grid] of grids.entries()) {
      await grid.client.waitMachines(1);
      const start = performance.now();
      const job = await grid.client.waitEnded(await grid.client.submit([taskGroup('/bin/true', tasks)]), 300_000);
      if (job.finishedCount !== tasks) throw new Error(`${job.finishedCount} of ${tasks} finished`);
      if (round > 0) rates[index]?.push(tasks / ((performance.now() - start) / 1000)); // The first of each warms caches.
    }
  }
  const [without = NaN, isolated = NaN] = rates.map((found) => median(found));
  report('isolated /bin/true tasks', [
    plain('rate without isolation, median', without, 'tasks/s'),
    plain('rate with bubblewrap, median', isolated, 'tasks/s'),
    plain('cost of a sandbox, of one processor', width * (1000 / isolated - 1000 / without), 'ms/task'),
  ]);
} finally {
  await Promise.all(grids.map((grid) => grid.stop()));
}
