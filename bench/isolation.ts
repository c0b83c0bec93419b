// /bin/true as tasks that are isolated with bubblewrap, and, as root where sudo is installed, in another account,
// against the same without, in turn on one machine.
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { Grid, taskGroup } from '@mutirao/testkit';
import { median, option, plain, report } from './harness.ts';

const tasks = option('tasks', 1000);
const rounds = option('rounds', 5);
const width = option('width', cpus().length);
const mayChangeAccount = process.getuid?.() === 0 && existsSync('/usr/bin/sudo');
const kinds = ['none', 'bubblewrap', ...(mayChangeAccount ? ['account=nobody'] : [])];
const grids = await Promise.all(
  kinds.map((kind) => Grid.start({ machines: [width], agentArgs: ['--isolation', kind] })),
);
try {
  const rates = kinds.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, grid] of grids.entries()) {
      await grid.client.waitMachines(1);
      const start = performance.now();
      const job = await grid.client.waitEnded(await grid.client.submit([taskGroup('/bin/true', tasks)]), 300_000);
      if (job.finishedCount !== tasks) throw new Error(`${job.finishedCount} of ${tasks} finished`);
      // The first of each warms caches.
      if (round > 0) rates[index]?.push(tasks / ((performance.now() - start) / 1000));
    }
  }
  const medians = rates.map((found) => median(found));
  const [without = NaN] = medians;
  report(
    'isolated /bin/true tasks',
    kinds.flatMap((kind, index) => {
      const rate = medians[index] ?? NaN;
      const cost =
        index === 0
          ? []
          : [plain(`cost of a task with ${kind}, of one processor`, width * (1000 / rate - 1000 / without), 'ms/task')];
      return [plain(`rate with ${kind}, median`, rate, 'tasks/s'), ...cost];
    }),
  );
} finally {
  await Promise.all(grids.map((grid) => grid.stop()));
}
