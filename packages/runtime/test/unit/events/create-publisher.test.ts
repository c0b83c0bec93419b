import test from 'ava';

import { FakeStream, temporaryFolder } from '@mutirao/testkit';

import { createPublisher, eventSource } from '../../../src/events/create-publisher.ts';
import { openJournal } from '../../../src/journal/index.ts';
import { quietLogger } from '../../../src/log/index.ts';
import { Metrics } from '../../../src/metrics/index.ts';
import { changeCodec, encodeEntry } from './reported-change.ts';

const owner = {
  source: '/mutirao/brokers/ana-1',
  series: 'mutirao_broker_events',
  log: quietLogger,
  encode: encodeEntry,
};

test('a source stays with its journal, and is another for a new journal and after the host lost its power', (t) => {
  const folder = temporaryFolder(t);
  const open = (name: string, bootId: number): string => {
    const journal = openJournal({ path: `${folder}/${name}`, codec: changeCodec, bootId });
    const source = eventSource(owner.source, journal);
    if (journal.lastSequence() === 0) journal.record([{ events: 1 }], 1);
    journal.keepHost();
    journal.close();
    return source;
  };
  const source = open('one', 5);
  t.regex(source, /^\/mutirao\/brokers\/ana-1\/[0-9a-z]+$/);
  t.is(open('one', 5), source);
  t.not(open('two', 5), source);
  const after = open('one', 6);
  t.not(after, source);
  t.is(open('one', 6), after);
});

test('without a connection there is no publisher and no series; with one, the series report it', async (t) => {
  const metrics = new Metrics();
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  const stream = new FakeStream();
  const setup = { ...owner, metrics, connectEvents: undefined };
  t.is(createPublisher(setup, journal), undefined);
  t.false((await metrics.text()).includes('events'));
  journal.record([{ events: 1 }], 1);
  const publisher = createPublisher({ ...setup, connectEvents: stream.connect }, journal);
  t.regex(await metrics.text(), /mutirao_broker_events_lag 1\n/);
  t.regex(await metrics.text(), /mutirao_broker_events_connected 0\n/);
  publisher?.start();
  await publisher?.stop(1000);
  t.regex(await metrics.text(), /mutirao_broker_events_published_total 1\n/);
  t.regex(await metrics.text(), /mutirao_broker_events_lag 0\n/);
  t.deepEqual(stream.ids, ['1']);
  journal.close();
});

test('a publisher begins where the one before it, on the same journal, ended', async (t) => {
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  const stream = new FakeStream();
  for (const ids of [['1'], ['1', '2']]) {
    journal.record([{ events: 1 }], 1);
    const publisher = createPublisher({ ...owner, metrics: new Metrics(), connectEvents: stream.connect }, journal);
    publisher?.start();
    await publisher?.stop(1000);
    t.deepEqual(stream.ids, ids);
  }
  t.is(stream.repeatCount, 0);
  journal.close();
});
