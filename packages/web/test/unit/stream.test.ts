// The stream of a page: levels when they change and no more often, events once, and what was missed to who comes back.
import test from 'ava';

import { MutiraoError } from '@mutirao/api/errors';
import { aJobSummary, AnsweringBroker, fakePageGrid, wire } from '@mutirao/testkit';
import {
  heartbeatMs,
  type JobList,
  type RecentEvents,
  type BrokerLink,
  type StreamTopic,
} from '../../src/schema/index.ts';
import { StreamHub, type Sink, type Source } from '../../src/server/stream/stream-hub.ts';

interface Message {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

class World {
  readonly broker = new AnsweringBroker();
  now = 100_000;
  /** How much a broker sends between two ticks. */
  turns = 5;
  readonly hub: StreamHub;

  constructor(instance = 'one') {
    this.hub = new StreamHub({ grid: fakePageGrid(this.broker), clock: { now: () => this.now } }, instance);
  }

  /** Opens a page on jobs and events. */
  open(
    topics: readonly StreamTopic[] = ['jobs', 'events'],
    lastId?: string,
  ): { messages: Message[]; texts: string[]; sink: Sink & { isOpen: boolean }; close: () => void } {
    const texts: string[] = [];
    const messages: Message[] = [];
    const sink = {
      isOpen: true,
      isReady: () => sink.isOpen,
      write: (text: string) => {
        texts.push(text);
        const [, id = '', event = '', data = ''] = /^id: (.*)\nevent: (.*)\ndata: (.*)\n\n$/.exec(text) ?? [];
        if (data !== '') messages.push({ id, event, data: JSON.parse(data) });
      },
    };
    const jobs: Source = { every: 250, read: async () => this.broker.listJobs({ pageSize: 100, beforeJobId: 0 }) };
    const close = this.hub.open(
      { sources: new Map(topics.includes('jobs') ? [['jobs', jobs]] : []), topics: new Set(topics), lastId },
      sink,
    );
    return { messages, texts, sink, close };
  }

  /** Lets time pass in ticks of a tenth of a second. */
  async pass(ms: number): Promise<void> {
    for (const end = this.now + ms; this.now < end; this.now += 100) {
      await this.hub.tick();
      // Messages of a broker come between ticks.
      for (let turn = 0; turn < this.turns; turn += 1) await Promise.resolve();
    }
    await this.hub.tick();
  }
}

const of = (messages: readonly Message[], event: string): Message[] => messages.filter((one) => one.event === event);

test('a level is sent at once, and again only when it changed', async (t) => {
  const world = new World();
  world.broker.jobs = [aJobSummary()];
  const { messages } = world.open();
  await world.pass(2000);
  t.is(of(messages, 'jobs').length, 1);
  t.is((of(messages, 'link')[0]?.data as BrokerLink).connected, true);
  world.broker.jobs = [aJobSummary({ finishedCount: 9 })];
  await world.pass(1100);
  t.is(of(messages, 'jobs').length, 2);
});

test('however fast tasks finish, a level comes four times a second at most', async (t) => {
  const world = new World();
  const { messages } = world.open(['jobs']);
  for (let tick = 0; tick < 100; tick += 1) {
    world.broker.jobs = [aJobSummary({ finishedCount: tick })];
    await world.pass(100);
  }
  t.true(of(messages, 'jobs').length <= 42, String(of(messages, 'jobs').length));
  t.true(of(messages, 'jobs').length >= 30);
});

test('several pages cost the broker what one does, and none costs it nothing', async (t) => {
  const world = new World();
  const pages = [world.open(['jobs']), world.open(['jobs']), world.open(['jobs'])];
  await world.pass(1000);
  const asked = world.broker.timesAsked('listJobs');
  t.true(asked <= 5, String(asked));
  for (const { messages } of pages) t.is(of(messages, 'jobs').length, 1);
  for (const { close } of pages) close();
  await world.pass(5000);
  t.is(world.broker.timesAsked('listJobs'), asked);
});

test('events come once each, in their order; a page that opens later gets the last of them', async (t) => {
  const world = new World();
  const { messages } = world.open();
  await world.pass(200);
  world.broker.report(wire.event({ sequence: 1 }), wire.event({ sequence: 1, type: 'job.finished' }));
  world.broker.report(wire.event({ sequence: 2, taskIndexes: Array.from({ length: 5000 }, (_, index) => index) }));
  await world.pass(500);
  const seen = of(messages, 'events').flatMap(({ data }) => (data as RecentEvents).events);
  t.deepEqual(
    seen.map(({ sequence, type }) => [sequence, type]),
    [
      [1, 'tasks.finished'],
      [1, 'job.finished'],
      [2, 'tasks.finished'],
    ],
  );
  t.is(seen[2]?.task_indexes.length, 20);
  t.is(seen[2]?.task_count, 5000);
  const late = world.open(['events']);
  await world.pass(200);
  t.is((of(late.messages, 'events')[0]?.data as RecentEvents).events.length, 3);
});

test('a page that comes back with the last id gets what changed since, and nothing twice', async (t) => {
  const world = new World();
  world.broker.jobs = [aJobSummary()];
  const first = world.open();
  await world.pass(300);
  world.broker.report(wire.event({ sequence: 1 }));
  await world.pass(300);
  first.close();
  const lastId = first.messages.at(-1)?.id;
  const same = world.open(['jobs', 'events'], lastId);
  await world.pass(1500);
  t.deepEqual(same.messages, []);
  world.broker.report(wire.event({ sequence: 2 }));
  world.broker.jobs = [aJobSummary({ finishedCount: 3 })];
  await world.pass(1500);
  t.deepEqual(same.messages.map(({ event }) => event).sort(), ['events', 'jobs']);
  t.deepEqual(
    of(same.messages, 'events').flatMap(({ data }) => (data as RecentEvents).events.map(({ sequence }) => sequence)),
    [2],
  );
});

test('an id of another gateway, or a made up one, gets everything', async (t) => {
  const world = new World('two');
  world.broker.jobs = [aJobSummary()];
  for (const lastId of ['one.99', 'two.x', 'two.99999999999999999999', '', 'two']) {
    const { messages } = world.open(['jobs'], lastId);
    await world.pass(300);
    t.is(of(messages, 'jobs').length, 1, lastId);
  }
});

test('a page that reads slowly gets the newest level when it reads again, not all of them', async (t) => {
  const world = new World();
  const { messages, sink } = world.open(['jobs']);
  sink.isOpen = false;
  for (let count = 0; count < 10; count += 1) {
    world.broker.jobs = [aJobSummary({ finishedCount: count })];
    await world.pass(300);
  }
  t.deepEqual(messages, []);
  sink.isOpen = true;
  await world.pass(100);
  t.deepEqual(
    of(messages, 'jobs').map(({ data }) => (data as { jobs: { finishedCount: number }[] }).jobs[0]?.finishedCount),
    [9],
  );
});

test('a broker that goes away is reported with its code, the stream stays, and it goes on by itself', async (t) => {
  const world = new World();
  world.broker.jobs = [aJobSummary()];
  const { messages } = world.open(['jobs']);
  await world.pass(500);
  world.broker.awayBecause = new MutiraoError('MUT_UNREACHABLE', 'nobody listens');
  await world.pass(3000);
  t.deepEqual(
    of(messages, 'link').map(({ data }) => (data as BrokerLink).code),
    ['', 'MUT_UNREACHABLE'],
  );
  world.broker.awayBecause = undefined;
  world.broker.jobs = [aJobSummary({ finishedCount: 4 })];
  await world.pass(1000);
  t.deepEqual(
    of(messages, 'link').map(({ data }) => (data as BrokerLink).connected),
    [true, false, true],
  );
  t.is(
    (of(messages, 'jobs').at(-1)?.data as JobList & { jobs: { finishedCount: number }[] }).jobs[0]?.finishedCount,
    4,
  );
});

test('while nothing changes a comment keeps the connection alive', async (t) => {
  const world = new World();
  const { texts } = world.open(['jobs']);
  await world.pass(3 * heartbeatMs + 2000);
  t.is(texts.filter((text) => text.startsWith(':')).length, 3);
});

test('of a flood of events the broker is asked for a sample, which is said, and never for what was passed over', async (t) => {
  const world = new World();
  const { messages } = world.open(['events']);
  await world.pass(200);
  world.turns = 2000;
  for (let sequence = 1; sequence <= 5000; sequence += 1) world.broker.report(wire.event({ sequence }));
  await world.pass(5000);
  const sent = of(messages, 'events');
  t.true(sent.some(({ data }) => (data as RecentEvents).is_sampled));
  for (const { data } of sent) t.true((data as RecentEvents).events.length <= 200);
  t.is(world.broker.timesAsked('watchJob'), 1);
  const asked = world.broker.asked.find(({ method }) => method === 'watchJob');
  t.like(asked?.request, { jobId: 0, lastChanges: 100, changesPerSecondMax: 20, taskIndexesMax: 20 });
  const { events } = sent.at(-1)?.data as RecentEvents;
  t.is(events.at(-1)?.sequence, 5000, 'the newest is delivered');
  world.broker.report(wire.event({ sequence: 5001, taskIndexes: [1, 2], taskCount: 70 }));
  await world.pass(500);
  t.like(of(messages, 'events').at(-1)?.data, { is_sampled: false, events: [{ sequence: 5001, task_count: 70 }] });
});

test('after a restore of the broker events are sent from the beginning of its other journal', async (t) => {
  const world = new World();
  world.turns = 500;
  const { messages } = world.open(['events']);
  for (let sequence = 1; sequence <= 50; sequence += 1) world.broker.report(wire.event({ sequence }));
  await world.pass(500);
  world.broker.putBack('second');
  world.broker.report(wire.event({ sequence: 1, jobId: 9 }), wire.event({ sequence: 1, jobId: 9 }));
  world.broker.report(wire.event({ sequence: 2, jobId: 9 }));
  await world.pass(3000);
  const reported = of(messages, 'events').flatMap(({ data }) => (data as RecentEvents).events);
  t.deepEqual(
    reported.filter((event) => event.job_id === 9).map(({ sequence }) => sequence),
    [1, 1, 2],
  );
});

test('a level that stays the same is read less and less often, and as often as usual again once something happens', async (t) => {
  const world = new World();
  world.open(['jobs', 'events']);
  await world.pass(20_000);
  const idle = world.broker.timesAsked('listJobs');
  t.true(idle <= 23, `${idle} times in 20 s: once a second, not four times`);
  world.broker.report(wire.event({ sequence: 1 }));
  world.broker.jobs = [aJobSummary({ finishedCount: 1 })];
  await world.pass(400);
  t.true(world.broker.timesAsked('listJobs') > idle);
});

test('text cannot break out of a message', async (t) => {
  const world = new World();
  world.broker.jobs = [aJobSummary({ label: 'a\n\nevent: link\ndata: {"connected":false}\n\n' })];
  const { messages, texts } = world.open(['jobs']);
  await world.pass(300);
  t.is(texts.length, 2);
  t.is(
    (of(messages, 'jobs')[0]?.data as { jobs: { label: string }[] }).jobs[0]?.label,
    'a\n\nevent: link\ndata: {"connected":false}\n\n',
  );
});

test('a page whose connection broke between two messages gets the second one when it comes back', async (t) => {
  const world = new World();
  world.broker.jobs = [aJobSummary()];
  const warm = world.open(['jobs']);
  await world.pass(500);
  world.broker.awayBecause = new MutiraoError('MUT_UNREACHABLE', 'nobody listens');
  await world.pass(500);
  warm.close();
  // The jobs are older than the state of the link, and both are new to it.
  const { messages, sink, close } = world.open(['jobs']);
  sink.isReady = () => messages.length < 1;
  await world.pass(100);
  close();
  t.is(messages.length, 1);
  const back = world.open(['jobs'], messages[0]?.id);
  await world.pass(100);
  t.deepEqual([...messages, ...back.messages].map(({ event }) => event).sort(), ['jobs', 'link']);
});
