// A job of a million array tasks: how fast it is accepted, and what memory the broker has while they wait and when all
// are done.
import { Grid, taskGroup } from '@mutirao/testkit';
import { below, option, plain, report, residentMebibytes, watchMemory } from './harness.ts';

const tasks = option('tasks', 1_000_000);
const grid = await Grid.start({ machines: [8] });
try {
  await grid.client.waitMachines(1);
  const idle = residentMebibytes(grid.broker.pid);
  const start = performance.now();
  const waiting = await grid.client.submit([taskGroup('true {}', tasks, { requirements: 'never == here' })]);
  const accepted = (performance.now() - start) / 1000;
  await grid.client.job(waiting);
  const whileWaiting = residentMebibytes(grid.broker.pid);
  await grid.client.cancel(waiting, 'measured');
  await grid.client.waitEnded(waiting);

  const peak = watchMemory({ broker: grid.broker.pid });
  const runStart = performance.now();
  const jobId = await grid.client.submit([taskGroup('', tasks, { noOp: true })]);
  const job = await grid.client.waitEnded(jobId, 600_000);
  const seconds = (performance.now() - runStart) / 1000;
  if (job.finishedCount !== tasks) throw new Error(`${job.finishedCount} of ${tasks} finished`);
  report('a million tasks', [
    below(`accepting ${tasks} tasks`, accepted, 's', 1),
    plain('broker, idle', idle, 'MiB'),
    below('broker, while they wait', whileWaiting, 'MiB', 300),
    below('broker, when all have finished', residentMebibytes(grid.broker.pid), 'MiB', 1024),
    plain('broker, peak above idle while they run', peak()['broker'] ?? NaN, 'MiB'),
    plain('rate over all of them', tasks / seconds, 'tasks/s'),
  ]);
} finally {
  await grid.stop();
}
