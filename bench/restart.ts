// kill -9 of a broker that holds finished and unfinished tasks: how long until it dispatches again.
import { Grid, taskGroup } from '@mutirao/testkit';
import { listMessages } from '@mutirao/runtime/rpc';
import { below, median, option, plain, report } from './harness.ts';

const finished = option('finished', 100_000);
const unfinished = option('unfinished', 10_000);
const rounds = option('rounds', 5);
const grid = await Grid.start({ machines: [8] });

/** When the first replica after `sequence` was placed, in Unix milliseconds. */
async function firstDispatchAfter(sequence: number): Promise<number> {
  for await (const { events } of listMessages(grid.client.raw.watchJob({ jobId: 0, afterSequence: sequence }))) {
    const placed = events.find(({ type }) => type === 'tasks.started');
    if (placed !== undefined) return placed.atUnixMs;
  }
  throw new Error('the event stream ended');
}

async function lastSequence(): Promise<number> {
  let last = 0;
  const stream = grid.client.raw.watchJob({ jobId: 0, afterSequence: 0 });
  const timer = setTimeout(() => {
    stream.cancel();
  }, 1500);
  try {
    for await (const { events } of listMessages(stream)) last = Math.max(last, events.at(-1)?.sequence ?? 0);
  } catch {
    /* Cancelled when it had told all. */
  }
  clearTimeout(timer);
  return last;
}

try {
  await grid.client.waitMachines(1);
  await grid.client.waitEnded(await grid.client.submit([taskGroup('', finished, { noOp: true })]), 120_000);
  const open = await grid.client.submit([taskGroup('sleep 0.2', unfinished)]);
  const dispatches: number[] = [];
  const serving: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = await lastSequence();
    await grid.broker.kill('SIGKILL');
    const start = Date.now();
    await grid.broker.start();
    serving.push((Date.now() - start) / 1000);
    dispatches.push(((await firstDispatchAfter(before)) - start) / 1000);
  }
  const job = await grid.client.job(open);
  report('restart of the broker', [
    below(
      `kill -9 with ${finished} finished and ${unfinished} unfinished tasks, to the first dispatch, median of ` +
        `${rounds}`,
      median(dispatches),
      's',
      2,
    ),
    plain('to its API answering', median(serving), 's'),
    plain('tasks of the open job finished meanwhile', job.finishedCount, 'tasks'),
  ]);
  await grid.client.cancel(open);
} finally {
  await grid.stop();
}
