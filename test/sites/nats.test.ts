// Events on a real NATS server, read by a Python program that knows nothing of Mutirao but proto/: none is missed and
// none comes out of order, whoever is killed.
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { connect, nanos, type JetStreamManager } from 'nats';
import test, { type ExecutionContext } from 'ava';
import { JobStatus, type JobEvent } from '@mutirao/api/broker';
import { natsEvents } from '@mutirao/runtime/events';
import { listMessages } from '@mutirao/runtime/rpc';
import {
  buildExampleClient,
  Grid,
  NatsServer,
  readMetrics,
  taskGroup,
  until,
  type ExampleClient,
} from '@mutirao/testkit';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What a subscriber printed of an event: id, subject, type, job, tasks. */
type Reported = [string, string, string, number, number[]];

/** The example subscriber as a process. What it printed stays when it is killed and started again. */
class Subscriber {
  readonly reported: Reported[] = [];
  complaints = '';
  readonly #command: readonly string[];
  #child: ChildProcess | undefined;

  constructor({ folder, command: [python] }: ExampleClient, ...args: readonly string[]) {
    this.#command = [python, join(folder, 'subscribe.py'), ...args];
  }

  start(): void {
    const [program = '', ...args] = this.#command;
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: child.stdout }).on('line', (line) => this.reported.push(JSON.parse(line) as Reported));
    child.stderr.on('data', (data: Buffer) => {
      this.complaints += data.toString();
    });
    this.#child = child;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    child?.kill('SIGKILL');
    await until(
      () => child === undefined || child.signalCode !== null || child.exitCode !== null,
      'the subscriber is gone',
    );
  }

  /** Stops it, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }

  hasEnd(jobId: number): boolean {
    return this.reported.some(([, , type, job]) => job === jobId && type === 'job.finished');
  }
}

interface World {
  readonly nats: NatsServer;
  readonly grid: Grid;
  subscribe(name: string): Promise<Subscriber>;
}

async function world(t: ExecutionContext, clusters: readonly number[] = []): Promise<World> {
  const client = await buildExampleClient(t, 'python');
  const nats = new NatsServer();
  t.teardown(() => nats.stop());
  await nats.start();
  const grid = await Grid.start({
    clusters,
    machines: [2],
    providerArgs: ['--idle-release', '500ms'],
    brokerArgs: ['--nats', nats.url, '--nats-bytes', '64M', '--nats-age', '1h'],
  });
  t.teardown(() => grid.stop());
  await grid.client.waitMachines(1);
  const subscribe = async (name: string): Promise<Subscriber> => {
    await until(async () => (await series(grid, 'connected')) === 1, 'the broker has made the stream');
    const subscriber = new Subscriber(client, nats.url, name);
    t.teardown(() => subscriber.kill());
    subscriber.start();
    return subscriber;
  };
  return { nats, grid, subscribe };
}

/** What `mutirao events --follow` prints from now on. */
function follow(t: ExecutionContext, grid: Grid): { type: string; task_indexes: number[] }[] {
  const args = [`${root}packages/cli/bin/mutirao.js`, 'events', '--follow', '--json'];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, MUTIRAO_HOME: grid.home },
  });
  t.teardown(() => {
    child.kill('SIGKILL');
  });
  const followed: { type: string; task_indexes: number[] }[] = [];
  createInterface({ input: child.stdout }).on('line', (line) =>
    followed.push(JSON.parse(line) as { type: string; task_indexes: number[] }),
  );
  return followed;
}

/** A series of the broker's, by the end of its name. */
async function series(grid: Grid, name: string): Promise<number> {
  const text = await readMetrics(grid.home);
  return Number(new RegExp(`^mutirao_broker_events_${name} (.*)$`, 'm').exec(text)?.[1] ?? NaN);
}

/** All events in the broker's own journal, which NATS is compared with. */
async function listEvents(grid: Grid): Promise<Reported[]> {
  const all: Reported[] = [];
  for await (const { events } of listMessages(grid.client.raw.watchJob({ jobId: 0, afterSequence: 0 }))) {
    if (events.length === 0) break;
    events.forEach((event, part) => {
      const { sequence, type, jobId, taskIndexes } = event;
      all.push([
        part === 0 ? String(sequence) : `${sequence}.${part}`,
        `mutirao.events.${type}.${idOf(event)}`,
        type,
        jobId,
        taskIndexes,
      ]);
    });
  }
  return all;
}

function idOf({ type, jobId, machineId, providerId, requestId }: JobEvent): string {
  if (jobId !== 0) return String(jobId);
  if (type.startsWith('machine.')) return machineId.replaceAll('.', '_');
  return requestId === '' ? providerId : `${providerId}/${requestId}`;
}

/** Holds a subscriber to the truth, which it has in the end. Once each where it was not killed itself. */
async function agree(t: ExecutionContext, subscriber: Subscriber, grid: Grid): Promise<Reported[]> {
  const distinct = () => [...new Map(subscriber.reported.map((event) => [event[0], event])).values()];
  await until(async () => isDeepStrictEqual(distinct(), await listEvents(grid)), 'the subscriber knows all').catch(
    () => undefined,
  );
  const truth = await listEvents(grid);
  t.deepEqual(distinct(), truth);
  return truth;
}

const steps = (seconds: number, count: number) => [taskGroup(`sleep ${seconds}; test $TASK != 3`, count)];
const finishedCount = async (grid: Grid, jobId: number): Promise<number> =>
  (await grid.client.job(jobId)).finishedCount;

test.serial('all events of the broker come by NATS, in their order, each once', async (t) => {
  const { grid, subscribe } = await world(t, [2]);
  const subscriber = await subscribe('lab-book');
  const jobId = await grid.client.submit(steps(0.2, 40), { failuresMax: 2 });
  const job = await grid.client.waitEnded(jobId);
  t.is(job.status, JobStatus.FAILED, 'one of its tasks fails twice');
  await until(() => subscriber.reported.some(([, , type]) => type === 'job.failed'), 'the end of the job is published');
  await until(
    () => subscriber.reported.some(([, , type]) => type === 'machine.lost'),
    'an allocation ends when nothing is left to do',
  );
  const truth = await agree(t, subscriber, grid);
  t.true(
    truth.some(([id]) => id.includes('.')),
    'no change had several events',
  );
  const types = new Set(truth.map(([, , type]) => type));
  for (const type of ['provider.added', 'machine.joined', 'request.queued', 'request.running', 'machine.lost'])
    t.true(types.has(type), type);
  t.is(subscriber.reported.length, truth.length, 'each once');
  t.is(await series(grid, 'published_total'), truth.length);
});

test.serial(
  'NATS is killed in mid-job: the job goes on, followers of the broker still get its events, and NATS gets them when it is back',
  async (t) => {
    const { nats, grid, subscribe } = await world(t);
    const subscriber = await subscribe('lab-book');
    const jobId = await grid.client.submit([taskGroup('sleep 0.1', 30)]);
    await until(() => subscriber.reported.some(([, , type]) => type === 'tasks.finished'), 'some events have come');
    await nats.kill();
    const followed = follow(t, grid);
    const job = await grid.client.waitEnded(jobId);
    t.is(job.finishedCount, 30);
    await until(
      () => followed.some(({ type }) => type === 'job.finished'),
      'events --follow prints the end without NATS',
    );
    t.false(subscriber.hasEnd(jobId));
    t.is(await series(grid, 'connected'), 0);
    t.true((await series(grid, 'lag')) > 0);
    await nats.start();
    await until(() => subscriber.hasEnd(jobId), 'the end of the job is published');
    const truth = await agree(t, subscriber, grid);
    t.is(subscriber.reported.length, truth.length, 'each once');
  },
);

test.serial('kill -9 of the broker in mid-job: nothing is missed, and repeated events keep their ids', async (t) => {
  const { grid, subscribe } = await world(t);
  const subscriber = await subscribe('lab-book');
  const jobId = await grid.client.submit([taskGroup('sleep 0.1', 60)]);
  const followed = follow(t, grid);
  for (const count of [5, 20, 35]) {
    await until(async () => (await finishedCount(grid, jobId)) >= count, `${count} tasks are finished`);
    await grid.broker.crash();
  }
  await grid.client.waitEnded(jobId);
  await until(() => subscriber.hasEnd(jobId), 'the end of the job is published');
  const late = await subscribe('late');
  await until(() => late.hasEnd(jobId), 'a late subscriber receives all');
  const truth = await listEvents(grid);
  await until(() => followed.length >= truth.length, 'events --follow prints all, across the restarts');
  t.deepEqual(
    followed.map(({ type, task_indexes }) => [type, task_indexes]),
    truth.map(([, , type, , tasks]) => [type, tasks]),
  );
  for (const one of [subscriber, late]) t.is(one.reported.length, (await agree(t, one, grid)).length, 'each once');
});

test.serial('a subscriber that is killed and comes back misses nothing', async (t) => {
  const { grid, subscribe } = await world(t);
  const subscriber = await subscribe('lab-book');
  const jobId = await grid.client.submit([taskGroup('sleep 0.1', 60)]);
  for (const count of [5, 30]) {
    await until(
      () => subscriber.reported.filter(([, , type]) => type === 'tasks.finished').length >= count / 5,
      'some events have come',
    );
    await subscriber.kill();
    await until(async () => (await finishedCount(grid, jobId)) >= count, `${count} tasks are finished meanwhile`);
    subscriber.start();
  }
  await grid.client.waitEnded(jobId);
  await until(() => subscriber.hasEnd(jobId), 'the end of the job is published');
  await agree(t, subscriber, grid);
});

/** The stream of the events, for an administrator. */
async function administer(t: ExecutionContext, nats: NatsServer): Promise<JetStreamManager> {
  const connection = await connect({ servers: nats.url });
  t.teardown(() => connection.close());
  return connection.jetstreamManager();
}

test.serial(
  'a subscriber whose stream is lost, or whose server lost all, says so and goes on with what is published from then on',
  async (t) => {
    const { nats, grid, subscribe } = await world(t);
    const subscriber = await subscribe('lab-book');
    const run = async (): Promise<number> => {
      const jobId = await grid.client.submit([taskGroup('true', 3)]);
      await grid.client.waitEnded(jobId);
      return jobId;
    };
    const first = await run();
    await until(() => subscriber.hasEnd(first), 'the end of the job is published');
    const manager = await administer(t, nats);
    await manager.streams.delete('MUTIRAO_EVENTS');
    const second = await run();
    await until(() => subscriber.hasEnd(second), 'events come from the stream that was made again');
    t.regex(subscriber.complaints, /^NATS: stream MUTIRAO_EVENTS or its reader lab-book was lost, starting over/m);
    await manager.consumers.delete('MUTIRAO_EVENTS', 'lab-book');
    const third = await run();
    await until(() => subscriber.hasEnd(third), 'the reader is made again');
    t.is(subscriber.complaints.match(/starting over/g)?.length, 2);
    await agree(t, subscriber, grid);
    t.is(subscriber.reported.length, new Set(subscriber.reported.map(([id]) => id)).size, 'nothing is published twice');
  },
);

test.serial('a subscriber says what was purged before it had read it', async (t) => {
  const { nats, grid, subscribe } = await world(t);
  const subscriber = await subscribe('lab-book');
  const first = await grid.client.submit([taskGroup('true', 3)]);
  await until(() => subscriber.hasEnd(first), 'the end of the job is published');
  t.is(subscriber.complaints, '');
  subscriber.signal('SIGSTOP');
  const lost = await grid.client.submit([taskGroup('true', 20)]);
  await grid.client.waitEnded(lost);
  await until(async () => (await series(grid, 'lag')) === 0, 'all is published');
  await (await administer(t, nats)).streams.purge('MUTIRAO_EVENTS');
  subscriber.signal('SIGCONT');
  const last = await grid.client.submit([taskGroup('true', 3)]);
  await until(() => subscriber.hasEnd(last), 'events published after the purge are delivered');
  t.regex(
    subscriber.complaints,
    /^NATS: messages \d+ to \d+ of the stream were removed before they were read: events are missing/m,
  );
  t.false(subscriber.hasEnd(lost));
});

test.serial(
  'a subscriber without a stream waits also while its server is away, and reads once both are there',
  async (t) => {
    const client = await buildExampleClient(t, 'python');
    const nats = new NatsServer();
    t.teardown(() => nats.stop());
    await nats.start();
    const subscriber = new Subscriber(client, nats.url, 'lab-book');
    t.teardown(() => subscriber.kill());
    subscriber.start();
    await until(
      () => subscriber.complaints.includes('there is no stream MUTIRAO_EVENTS; waiting for it'),
      'it waits for the stream',
    );
    await nats.kill();
    await until(
      () => subscriber.complaints.includes('the server does not answer; waiting for it'),
      'it waits for the server',
    );
    await nats.start();
    const { streams, consumers } = await administer(t, nats);
    await streams.add({ name: 'MUTIRAO_EVENTS', subjects: ['mutirao.events.>'] });
    await until(
      () =>
        consumers.info('MUTIRAO_EVENTS', 'lab-book').then(
          () => true,
          () => false,
        ),
      'it reads',
    );
    t.notRegex(subscriber.complaints, /Traceback/);
  },
);

test.serial(
  'the stream has the bounds that are asked for, also when it was there before, and keeps what else was set of it',
  async (t) => {
    const nats = new NatsServer();
    t.teardown(() => nats.stop());
    await nats.start();
    const connection = await connect({ servers: nats.url });
    t.teardown(() => connection.close());
    const manager = await connection.jetstreamManager();
    await manager.streams.add({ name: 'LAB', subjects: ['lab.>'], description: "the lab's own", max_age: nanos(5000) });
    const grid = await Grid.start({
      machines: [1],
      brokerArgs: ['--nats', nats.url, '--nats-stream', 'LAB', '--nats-age', '1h', '--nats-bytes', '32M'],
    });
    t.teardown(() => grid.stop());
    await until(async () => (await series(grid, 'connected')) === 1, 'the broker publishes');
    const { config } = await manager.streams.info('LAB');
    t.like(config, {
      max_age: nanos(3_600_000),
      max_bytes: 32 * 1024 ** 2,
      subjects: ['lab.>', 'mutirao.events.>'],
      description: "the lab's own",
      duplicate_window: nanos(120_000),
    });
    await grid.client.waitEnded(await grid.client.submit([taskGroup('true', 3)]));
    await until(async () => (await series(grid, 'lag')) === 0, 'all is published');
    t.is((await manager.streams.info('LAB')).state.messages, await series(grid, 'published_total'));
    await manager.streams.delete('LAB');
    await grid.client.waitEnded(await grid.client.submit([taskGroup('true', 3)]));
    await until(async () => (await series(grid, 'lag')) === 0, 'the stream is made again');
    t.true((await manager.streams.info('LAB')).state.messages > 0);
  },
);

test.serial(
  'the server keeps a message once, refuses one whose predecessor is not there, and a connection says when it is gone',
  async (t) => {
    const nats = new NatsServer();
    t.teardown(() => nats.stop());
    await nats.start();
    const options = {
      url: nats.url,
      credentialsPath: '',
      authorityPath: '',
      certificatePath: '',
      keyPath: '',
      stream: 'MUTIRAO_EVENTS',
      ageMax: 60_000,
      bytesMax: 2 ** 25,
      name: 'a test',
    };
    const connection = await natsEvents(options)();
    const message = (id: number) => ({
      subject: 'mutirao.events.job.accepted.1',
      messageId: `s#${id}`,
      headers: { 'ce-id': String(id) },
      data: new Uint8Array([id]),
    });
    t.is(await connection.publish(message(1)), 'kept');
    t.deepEqual(
      await Promise.all([
        connection.publish(message(2), 's#1'),
        connection.publish(message(3), 's#2'),
        connection.publish(message(5), 's#4'),
        connection.publish(message(6), 's#5'),
      ]),
      ['kept', 'kept', 'out of order', 'out of order'],
    );
    t.is(await connection.publish(message(3), 's#2'), 'kept', 'a repeat is harmless');
    const reader = await connect({ servers: nats.url });
    t.teardown(() => reader.close());
    t.is((await (await reader.jetstreamManager()).streams.info('MUTIRAO_EVENTS')).state.messages, 3);
    const unanswered = Promise.all([
      nats.kill(),
      t.throwsAsync(
        connection.closed.then((error) => {
          throw error ?? new Error('closed');
        }),
      ),
    ]);
    await unanswered;
    await t.throwsAsync(connection.publish(message(7)));
    await t.throwsAsync(natsEvents(options)(), undefined, 'nobody listens');
    await nats.start();
    await t.throwsAsync(
      natsEvents({ ...options, url: nats.url.replace('nats:', 'tls:') })(),
      undefined,
      'a server without TLS is refused for tls://',
    );
    await t.throwsAsync(natsEvents({ ...options, credentialsPath: '/nowhere.creds' })(), { message: /nowhere/ });
  },
);
