// No-op tasks through broker, provider relay and agents, journal on: what the way there and back costs.
// With --traced 1 every process writes a debugging trace, of about 1 KB for each task, that is removed at the end.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Grid, taskGroup } from '@mutirao/testkit';
import { atLeast, median, option, plain, report } from './harness.ts';

const tasks = option('tasks', 200_000);
const rounds = option('rounds', 5);
const traces = option('traced', 0) === 0 ? undefined : mkdtempSync(join(tmpdir(), 'mutirao-traces-'));
const traced = (name: string): string[] => (traces === undefined ? [] : ['--trace', join(traces, `${name}.jsonl`)]);
const grid = await Grid.start({
  machines: [8, 8],
  brokerArgs: traced('broker'),
  providerArgs: traced('provider'),
  agentArgs: traced('agent'),
});
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
  if (traces !== undefined) rmSync(traces, { recursive: true });
}
