// From the submission of one task to its start on an idle GridMachine.
import { Grid, taskGroup } from '@mutirao/testkit';
import { below, median, option, plain, report } from './harness.ts';

const rounds = option('rounds', 60);
const grid = await Grid.start({ machines: [2] });
try {
  await grid.client.waitMachines(1);
  const waits: number[] = [];
  const turnarounds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const submittedAt = Date.now();
    const start = performance.now();
    const jobId = await grid.client.submit([taskGroup('/bin/true', 1)]);
    await grid.client.waitEnded(jobId);
    turnarounds.push(performance.now() - start);
    const [task] = await grid.client.tasks(jobId);
    waits.push((task?.replicas[0]?.startedUnixMs ?? NaN) - submittedAt);
  }
  const sorted = [...waits].sort((one, other) => one - other);
  report('start of one task', [
    below(`submission to start, median of ${rounds}`, median(waits), 'ms', 20),
    plain('submission to start, 95th percentile', sorted[Math.floor(sorted.length * 0.95)] ?? NaN, 'ms'),
    plain('submission to the end being known, median', median(turnarounds), 'ms'),
  ]);
} finally {
  await grid.stop();
}
