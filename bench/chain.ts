// A chain of no-op tasks on one agent, real processes, journal on: what it costs that each task waits for the one
// before it. --tasks N, --rounds N.
import { Grid, taskGroup } from '@mutirao/testkit';
import { below, median, option, plain, report } from './harness.ts';

const tasks = option('tasks', 1_000);
const rounds = option('rounds', 5);
const edges = Array.from({ length: tasks - 1 }, (_, index) => ({ from: index, to: index + 1, dataBytes: 0 }));
const grid = await Grid.start({ machines: [1] });
try {
  await grid.client.waitMachines(1);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    const jobId = await grid.client.submit([taskGroup('', tasks, { noOp: true })], { edges });
    const job = await grid.client.waitEnded(jobId, 300_000);
    times.push((performance.now() - start) / tasks);
    if (job.finishedCount !== tasks) throw new Error(`${job.finishedCount} of ${tasks} finished`);
  }
  report('chain of tasks', [
    below(`each task of a chain of ${tasks} no-ops on one agent, median of ${rounds}`, median(times), 'ms', 2),
    plain('least', Math.min(...times), 'ms'),
    plain('greatest', Math.max(...times), 'ms'),
  ]);
} finally {
  await grid.stop();
}
