import { setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';

import { HandTimers, FakeStream } from '@mutirao/testkit';

import { EventBacklog } from '../../../src/events/backlog.ts';
import { EventPublisher } from '../../../src/events/event-publisher.ts';
import { openJournal, type Journal } from '../../../src/journal/index.ts';
import { changeCodec, encodeEntry, type ReportedChange } from './reported-change.ts';

interface Bench {
  readonly journal: Journal<ReportedChange>;
  readonly stream: FakeStream;
  readonly timers: HandTimers;
  readonly troubles: string[];
  readonly places: number[];
  readonly publisher: EventPublisher;
  record(count: number): void;
  /** Lets everything happen that needs no timer. */
  calm(): Promise<void>;
  /** The same, and rings each timer as it is set, until none is or `isDone`. Returns the delays. */
  run(isDone: () => boolean): Promise<number[]>;
  publishedCount(): number;
}

function getPublisher(
  { journal, stream, timers, troubles, places }: Pick<Bench, 'journal' | 'stream' | 'timers' | 'troubles' | 'places'>,
  count: (n: number) => void,
): EventPublisher {
  return new EventPublisher({
    backlog: new EventBacklog(journal, (entry) => encodeEntry('s', entry), journal.findNumber('place') ?? 0),
    connect: stream.connect,
    timers,
    random: () => 0,
    counts: { published: count },
    keepPlace: (sequence) => {
      places.push(sequence);
      journal.keepNumber('place', sequence);
    },
    onTrouble: (error) => {
      troubles.push(error instanceof Error ? error.message : 'over');
    },
  });
}

function prepare(t: ExecutionContext, from: Partial<Pick<Bench, 'journal' | 'stream'>> = {}): Bench {
  const parts = {
    journal: from.journal ?? openJournal({ path: ':memory:', codec: changeCodec }),
    stream: from.stream ?? new FakeStream(),
    timers: new HandTimers(),
    troubles: [] as string[],
    places: [] as number[],
  };
  let published = 0;
  const publisher = getPublisher(parts, (count) => {
    published += count;
  });
  const calm = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns++) await turn();
  };
  publisher.start();
  t.teardown(() => publisher.stop(0));
  return {
    ...parts,
    publisher,
    calm,
    publishedCount: () => published,
    record: (count) => {
      parts.journal.record(
        Array.from({ length: count }, () => ({ events: 1 })),
        1,
      );
      publisher.notify();
    },
    run: async (isDone) => {
      const delays: number[] = [];
      await calm();
      while (!isDone() && parts.timers.waiting.length > 0 && delays.length < 200) {
        delays.push(parts.timers.ring());
        await calm();
      }
      return delays;
    },
  };
}

const upTo = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1));

test('what the journal holds and what comes later is published in its order, each event once', async (t) => {
  const { stream, record, run, publisher, publishedCount } = prepare(t);
  record(70);
  await run(() => publisher.lag === 0);
  record(1);
  record(2);
  await run(() => publisher.lag === 0);
  t.deepEqual(stream.ids, upTo(73));
  t.is(stream.repeatCount, 0);
  t.is(publishedCount(), 73);
  t.true(publisher.isConnected);
});

test('a message whose answer is lost is sent again and kept once', async (t) => {
  const { stream, record, run, publisher, troubles } = prepare(t);
  let answers = 0;
  stream.getFate = () => (++answers === 5 ? 'unsaid' : 'kept');
  record(10);
  await run(() => publisher.lag === 0);
  t.deepEqual(stream.ids, upTo(10));
  t.true(stream.repeatCount >= 1, 'nothing was repeated');
  t.deepEqual(troubles, ['no answer', 'over']);
});

test('where a message is lost on the way, none after it is kept before it', async (t) => {
  const { stream, record, run, publisher } = prepare(t);
  let sent = 0;
  stream.getFate = () => ([3, 12, 13, 20].includes(++sent) ? 'lost' : 'kept');
  record(30);
  await run(() => publisher.lag === 0);
  t.deepEqual(stream.ids, upTo(30));
});

test('an outage delays events and nothing else: the journal takes them, tries come more and more seldom, and then all are published', async (t) => {
  const { stream, record, run, publisher, troubles, timers, calm } = prepare(t);
  record(3);
  await run(() => publisher.lag === 0);
  stream.breakDown();
  await calm();
  t.false(publisher.isConnected);
  record(500);
  const delays = await run(() => stream.connectCount >= 12);
  t.true(
    delays.every((delay, index) => index === 0 || delay >= (delays[index - 1] ?? 0)),
    `${String(delays)} shrink`,
  );
  t.is(delays.at(-1), 15_000);
  t.is(timers.waiting.length, 1, 'one timer waits, however much was recorded');
  stream.isUp = true;
  stream.getFate = () => 'kept';
  await run(() => publisher.lag === 0);
  t.deepEqual(stream.ids.slice(-500), upTo(503).slice(3));
  t.is(troubles.length, 2, 'an outage is reported once, and its end');
});

test('no more than a bound of messages is under way, and nobody who records waits for them', async (t) => {
  const { stream, record, calm, publisher, run, journal } = prepare(t);
  await calm();
  stream.isSilent = true;
  record(5000);
  await run(() => stream.inFlightMax > 0);
  t.true(stream.inFlightMax > 1 && stream.inFlightMax <= 128, `${stream.inFlightMax} were under way`);
  record(1);
  t.is(journal.lastSequence(), 5001);
  stream.isSilent = false;
  stream.answer();
  await run(() => publisher.lag === 0);
  t.is(stream.messages.length, 5001);
  t.true(stream.inFlightMax <= 128);
});

test('after a restart it goes on from the place that was kept, and repeats have the ids that they had', async (t) => {
  const first = prepare(t);
  first.record(20);
  await first.run(() => first.places.length > 0);
  t.deepEqual(first.places, [20]);
  first.stream.getFate = () => 'unsaid';
  first.record(5);
  await first.run(() => first.stream.messages.length === 25);
  const second = prepare(t, first);
  first.stream.getFate = () => 'kept';
  second.record(5);
  await second.run(() => second.publisher.lag === 0);
  t.deepEqual(second.stream.ids, upTo(30));
  t.is(second.publishedCount(), 10, 'it began where nothing was known to be kept');
});

test('another publisher in the same stream breaks rows but not the order', async (t) => {
  const { stream, record, run, publisher } = prepare(t);
  let sent = 0;
  stream.getFate = () => {
    if (++sent % 7 === 0) stream.putForeign();
    return 'kept';
  };
  record(60);
  await run(() => publisher.lag === 0);
  t.deepEqual(
    stream.ids.filter((id) => id !== ''),
    upTo(60),
  );
});

test('a publisher that is stopped publishes what is waiting and keeps its place', async (t) => {
  const { record, publisher, stream, places, calm } = prepare(t);
  await calm();
  record(3);
  await publisher.stop(1000);
  t.deepEqual(stream.ids, upTo(3));
  t.deepEqual(places, [3]);
});

test('a server that does not answer holds up no stop', async (t) => {
  const { record, publisher, stream, timers, calm } = prepare(t);
  await calm();
  stream.isSilent = true;
  record(3);
  await calm();
  const stopped = publisher.stop(1000);
  await calm();
  while (timers.waiting.length > 0) timers.ring();
  await stopped;
  t.pass();
  stream.answer();
});
