// Events on NATS: how soon after the fact a subscriber has one, what publishing takes from a busy broker, and how fast
// a backlog goes
// out after an outage, to one subscriber and to eight. Needs nats-server (Debian's package).
import { existsSync } from 'node:fs';
import { connect, DeliverPolicy, type NatsConnection } from 'nats';
import { JobEvent } from '@mutirao/api/events';
import { Grid, NatsServer, readMetrics, taskGroup, until } from '@mutirao/testkit';
import { atLeast, below, median, option, plain, report, type Figure } from './harness.ts';

const jobs = option('jobs', 4000);
const tasks = option('tasks', 200_000);
const stream = 'MUTIRAO_EVENTS';
if (!existsSync('/usr/sbin/nats-server')) {
  console.error('bench/events.ts needs nats-server: apt install nats-server');
  process.exit(3);
}

/** What a broker says of its publishing, by the end of the series' name. */
async function series(grid: Grid, name: 'lag' | 'published_total'): Promise<number> {
  const text = await readMetrics(grid.home);
  return Number(new RegExp(`^mutirao_broker_events_${name} (.*)$`, 'm').exec(text)?.[1] ?? NaN);
}

/**
 * Reads the stream from its beginning, or only what is new, until `isOver` says so of an event; answers how many it
 * read.
 */
async function read(
  connection: NatsConnection,
  isOver: (data: Uint8Array, pending: number) => boolean,
  isNew = false,
): Promise<number> {
  const consumer = await connection
    .jetstream()
    .consumers.get(stream, isNew ? { deliver_policy: DeliverPolicy.New } : undefined);
  const messages = await consumer.consume({ max_messages: 1000 });
  let count = 0;
  for await (const message of messages) {
    count += 1;
    if (isOver(message.data, message.info.pending)) break;
  }
  await messages.close();
  return count;
}

/** From the fact to the subscriber, with little else going on. */
async function measureDelay(grid: Grid, nats: NatsServer): Promise<Figure[]> {
  const connection = await connect({ servers: nats.url });
  const delays: number[] = [];
  let ended = 0;
  const reading = read(
    connection,
    (data) => {
      const event = JobEvent.decode(data);
      if (event.type === 'job.finished') delays.push(Date.now() - event.atUnixMs);
      ended = Math.max(ended, event.type === 'job.finished' ? event.jobId : 0);
      return delays.length === 200;
    },
    true,
  );
  // A first one, so that the subscriber is known to listen.
  while (ended === 0) await grid.client.waitEnded(await grid.client.submit([taskGroup('', 1, { noOp: true })]));
  while (delays.length < 200) {
    const jobId = await grid.client.submit([taskGroup('', 1, { noOp: true })]);
    await until(() => ended >= jobId, 'the subscriber knows of the end');
  }
  await reading;
  await connection.close();
  const sorted = delays.toSorted((one, other) => one - other);
  return [
    below("from a job's end to its subscriber, median of 200", median(delays), 'ms', 20),
    plain('... 95th percentile', sorted[189] ?? NaN, 'ms'),
  ];
}

/** No-op tasks a second with and without a publisher, in turn. */
async function measureCost(grids: { readonly with: Grid; readonly without: Grid }): Promise<Figure[]> {
  const rates: Record<'with' | 'without', number[]> = { with: [], without: [] };
  for (let round = 0; round < 5; round++) {
    for (const which of ['without', 'with'] as const) {
      const { client } = grids[which];
      const start = performance.now();
      await client.waitEnded(await client.submit([taskGroup('', tasks, { noOp: true })]), 300_000);
      rates[which].push(tasks / ((performance.now() - start) / 1000));
      await until(
        async () => which === 'without' || (await series(grids.with, 'lag')) === 0,
        'all is published',
        60_000,
      );
    }
  }
  return [
    plain(`no-op tasks with publishing, median of 5 jobs of ${tasks}`, median(rates.with), 'tasks/s'),
    plain('no-op tasks without', median(rates.without), 'tasks/s'),
    atLeast('rate with publishing over rate without', median(rates.with) / median(rates.without), 'times', 0.7),
  ];
}

/** What was held back while NATS was away. */
async function measureBacklog(grid: Grid, nats: NatsServer): Promise<Figure[]> {
  await nats.kill();
  for (let left = jobs; left > 0; left -= 100) {
    const ids = await Promise.all(
      Array.from({ length: Math.min(left, 100) }, () => grid.client.submit([taskGroup('', 1, { noOp: true })])),
    );
    await Promise.all(ids.map((id) => grid.client.waitEnded(id)));
  }
  const before = await series(grid, 'published_total');
  await nats.start();
  await until(async () => (await series(grid, 'published_total')) > before, 'the broker publishes again', 60_000);
  const start = performance.now();
  const first = await series(grid, 'published_total');
  await until(async () => (await series(grid, 'lag')) === 0, 'all is published', 120_000);
  const count = (await series(grid, 'published_total')) - first;
  return [
    atLeast(
      `a backlog of ${jobs} jobs of one task after an outage, published`,
      count / ((performance.now() - start) / 1000),
      'events/s',
      3000,
    ),
  ];
}

/** Sends the whole stream to all subscribers at once, in one process. */
async function measureFanOut(nats: NatsServer, subscribers: number): Promise<Figure> {
  const connections = await Promise.all(Array.from({ length: subscribers }, () => connect({ servers: nats.url })));
  const start = performance.now();
  const counts = await Promise.all(
    connections.map((connection) => read(connection, (_data, pending) => pending === 0)),
  );
  const seconds = (performance.now() - start) / 1000;
  for (const connection of connections) await connection.close();
  return plain(
    `the stream of ${counts[0] ?? 0} events read by ${subscribers} at once`,
    Math.min(...counts) / seconds,
    'events/s each',
  );
}

const nats = new NatsServer();
await nats.start();
const grids = {
  with: await Grid.start({ machines: [8, 8], brokerArgs: ['--nats', nats.url] }),
  without: await Grid.start({ machines: [8, 8] }),
};
try {
  for (const grid of Object.values(grids)) await grid.client.waitMachines(2);
  const delay = await measureDelay(grids.with, nats);
  const cost = await measureCost(grids);
  const backlog = await measureBacklog(grids.with, nats);
  report('events', [...delay, ...cost, ...backlog, await measureFanOut(nats, 1), await measureFanOut(nats, 8)]);
} finally {
  for (const grid of Object.values(grids)) await grid.stop();
  await nats.stop();
}
