// No-op tasks through broker, provider relay and agents, journal on: what the way there and back costs.
import { Grid, taskGroup } from '@mutirao/testkit';
import { atLeast, median, option, plain, report } from './harness.ts';

const tasks = option('tasks', 200_000);
const rounds = option('rounds', 5);
const grid = await Grid.start({ machines: [8, 8] });
try {
  await grid.client.waitMachines(2);
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    const jobId = await grid.client.submit([taskGroup('', tasks, { noOp: true })]);
    const job = await grid.client.waitEnded(jobId, 300_000);
    rates.push(tasks / ((performance.now() - start) / 1000));
    if (job.finishedCount !== tasks) throw new Error(`${job.finishedCount} of ${tasks} finished`);
  }
  report('no-op tasks', [
    atLeast(`rate, median of ${rounds} jobs of ${tasks}`, median(rates), 'tasks/s', 50_000),
    plain('least', Math.min(...rates), 'tasks/s'),
    plain('greatest', Math.max(...rates), 'tasks/s'),
  ]);
} finally {
  await grid.stop();
}
