// Watching a sample: which events are sent, which are skipped, and when the journal is read.
import test, { type ExecutionContext } from 'ava';

import { WatchJobResponse, type WatchJobRequest } from '@mutirao/api/broker';
import { brokerMachine, createBrokerState, findOverview, type BrokerInput } from '@mutirao/core/machines/broker';
import { openJournal } from '@mutirao/runtime/journal';
import { aCallContext, aJob, aMachine, HandTimers } from '@mutirao/testkit';

import { JobWatchers } from '../../../src/events/job-watchers.ts';
import { changeCodec } from '../../../src/journal/change-codec.ts';
import { watchSample } from '../../../src/routes/watch-sample.ts';

/** A broker whose changes go straight into a journal, and one who watches it. */
class World {
  readonly timers = new HandTimers();
  readonly watchers = new JobWatchers();
  readonly journalInstance = 'first';
  readonly journal = openJournal({ path: ':memory:', codec: changeCodec });
  readonly driver = { state: createBrokerState() };
  readonly reported: WatchJobResponse[] = [];
  readonly leaving = new AbortController();

  constructor(t: ExecutionContext) {
    t.teardown(() => {
      this.journal.close();
    });
  }

  /** Lets inputs take effect and notifies those who wait. */
  async turn(...inputs: readonly BrokerInput[]): Promise<void> {
    this.journal.record(brokerMachine.step(this.driver.state, inputs, 1000).changes, 1000);
    this.watchers.notify(0);
    await new Promise(setImmediate);
  }

  async submit(jobs: number, taskCount = 3): Promise<void> {
    for (let count = 0; count < jobs; count += 1)
      await this.turn({ kind: 'JobSubmitted', replyTo: 0, userId: 'ana', clientJobId: '', spec: aJob(taskCount) });
  }

  watch(request: Partial<WatchJobRequest>, userId = 'ana'): Promise<void> {
    const writer = {
      onDrain: undefined,
      end: () => undefined,
      drained: () => Promise.resolve(),
      write: (message: WatchJobResponse) => {
        this.reported.push(message);
        return true;
      },
    };
    const after =
      request.lastChanges === undefined ? 0 : Math.max(0, this.journal.lastSequence() - request.lastChanges);
    return watchSample(
      this,
      { jobId: 0, afterSequence: 0, ...request },
      { writer, after, context: aCallContext({ userId, signal: this.leaving.signal }) },
    );
  }

  /** Lets the pause between two looks end. */
  async ring(): Promise<void> {
    this.timers.ring();
    await new Promise(setImmediate);
  }
}

const machine = (name: string, processors: number): BrokerInput => ({
  kind: 'MachineJoined',
  providerId: 'alpha',
  facts: aMachine(`alpha/${name}`, { processors }),
  heldReplicaIds: [],
});
const provider: readonly BrokerInput[] = [
  { kind: 'ProviderAdded', replyTo: 0, providerId: 'alpha', address: 'h:1' },
  { kind: 'ProviderConnected', providerId: 'alpha' },
];

test('a watcher of a few changes a second receives the newest, how many were skipped, and the first task indexes of each', async (t) => {
  const world = new World(t);
  await world.turn(...provider);
  await world.submit(4);
  const watch = world.watch({ lastChanges: 3, changesPerSecondMax: 4, taskIndexesMax: 2 });
  t.deepEqual(
    world.reported.map(({ events, skippedCount }) => [events.map(({ jobId }) => jobId), skippedCount]),
    [
      [[2, 3, 4], undefined],
      [[], undefined],
    ],
    'the first look goes back as far as was asked',
  );
  const before = world.journal.lastSequence();
  await world.turn(machine('m1', 20));
  t.is(world.reported.length, 2, 'nothing is looked at before its time');
  const last = world.journal.lastSequence();
  await world.ring();
  t.is(world.reported.length, 3);
  t.like(world.reported[2]?.events[0], { sequence: last, type: 'tasks.started', taskIndexes: [0, 1], taskCount: 3 });
  t.is(world.reported[2]?.skippedCount, last - before - 1, 'all but the newest of what happened since');
  await world.ring();
  t.is(world.reported.length, 3);
  t.true(
    world.reported.every(({ journalInstance }) => journalInstance === 'first'),
    'each message names the journal',
  );
  await world.turn({ kind: 'MachineLost', machineId: 'alpha/m1', reason: 'MUT_MACHINE_LOST' });
  t.is(
    world.reported.at(-1)?.events.at(-1)?.sequence,
    world.journal.lastSequence(),
    'a client without news is woken by the next event',
  );
  world.leaving.abort();
  await watch;
});

test('long events come in messages that any client takes, each once and in order', async (t) => {
  const world = new World(t);
  await world.turn(...provider);
  const names = Array.from({ length: 50 }, (_, index) => `m${index}`);
  const note = 'é'.repeat(50_000);
  for (const name of names)
    await world.turn({
      kind: 'MachineJoined',
      providerId: 'alpha',
      facts: aMachine(`alpha/${name}`, { attributes: { note } }),
      heldReplicaIds: [],
    });
  const watch = world.watch({ changesPerSecondMax: 200 });
  world.leaving.abort();
  await watch;
  for (const message of world.reported) t.true(WatchJobResponse.encode(message).finish().length < 4 * 1024 * 1024);
  t.deepEqual(
    world.reported
      .flatMap(({ events }) => events)
      .filter(({ type }) => type === 'machine.joined')
      .map(({ machineId }) => machineId),
    names.map((name) => `alpha/${name}`),
  );
  t.deepEqual(
    world.reported.map(({ skippedCount }) => skippedCount !== undefined),
    world.reported.map((_message, index) => index === 0),
    'what was passed over is counted once',
  );
});

test('however much happens, a second brings no more than was asked for', async (t) => {
  const world = new World(t);
  const watch = world.watch({ lastChanges: 0, changesPerSecondMax: 20 });
  for (let second = 0; second < 3; second += 1) {
    const begun = world.reported.flatMap(({ events }) => events).length;
    for (let waited = 0; waited < 1000; waited += world.timers.waiting[0]?.delay ?? Infinity) {
      await world.submit(30);
      await world.ring();
    }
    const reported = world.reported.flatMap(({ events }) => events).length - begun;
    t.true(reported > 0 && reported <= 20, `${reported} events in a second`);
  }
  const events = world.reported.flatMap((message) => message.events).length;
  t.is(
    events + world.reported.reduce((sum, { skippedCount = 0 }) => sum + skippedCount, 0),
    world.journal.lastSequence(),
    'each change is reported or counted',
  );
  world.leaving.abort();
  await watch;
});

test('another user receives events of her own jobs only, also in a sample', async (t) => {
  const world = new World(t);
  await world.turn(...provider);
  await world.submit(2);
  const watch = world.watch({ lastChanges: 100, changesPerSecondMax: 100 }, 'bob');
  t.deepEqual(
    world.reported.flatMap(({ events }) => events.map(({ type }) => type)),
    ['provider.added'],
  );
  world.leaving.abort();
  await watch;
});

test('a sample is of all jobs, and of a number of changes that there is', async (t) => {
  const world = new World(t);
  await t.throwsAsync(world.watch({ jobId: 1, changesPerSecondMax: 4 }), {
    code: 'MUT_BAD_REQUEST',
    message: /expected job_id 0/,
  });
  for (const changesPerSecondMax of [0, 1001])
    await t.throwsAsync(world.watch({ changesPerSecondMax }), {
      code: 'MUT_BAD_REQUEST',
      message: /expected an integer in 1\.\.1000/,
    });
});

test('the overview counts what the lists list', async (t) => {
  const world = new World(t);
  await world.turn(...provider);
  await world.submit(1);
  await world.turn(machine('m1', 2), machine('m2', 5), machine('m3', 1));
  t.deepEqual(findOverview(world.driver.state, 1000), {
    machines: { idle: 1, busy: 2, draining: 0, quarantined: 0 },
    processors: 8,
    runningCount: 3,
    providerCount: 1,
    connectedProviderCount: 1,
    queuedRequestCount: 0,
    runningRequestCount: 0,
  });
});
