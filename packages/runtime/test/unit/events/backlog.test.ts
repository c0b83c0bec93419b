import test from 'ava';

import { EventBacklog } from '../../../src/events/backlog.ts';
import { openJournal } from '../../../src/journal/index.ts';
import { changeCodec, encodeEntry, type ToldChange } from './told-change.ts';

const untold: ToldChange = { events: 0 };
const told: ToldChange = { events: 1 };
const toldTwice: ToldChange = { events: 2 };

function prepare(changes: readonly ToldChange[], publishedUpTo = 0) {
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  journal.record(changes, 5);
  return { journal, backlog: new EventBacklog(journal, (entry) => encodeEntry('s', entry), publishedUpTo) };
}

const ids = (backlog: EventBacklog<ToldChange>, max: number): string[] =>
  backlog.next(max).map(({ headers }) => headers['ce-id'] ?? '');

test('messages come in the order of the journal, and again until they are kept', (t) => {
  const { backlog } = prepare([told, told, told]);
  t.deepEqual(ids(backlog, 2), ['1', '2']);
  t.deepEqual(ids(backlog, 10), ['1', '2', '3']);
  backlog.settle(2);
  t.is(backlog.publishedUpTo, 2);
  t.deepEqual(ids(backlog, 10), ['3']);
  backlog.settle(1);
  t.deepEqual(ids(backlog, 10), []);
  t.is(backlog.lag, 0);
});

test('changes that tell nothing are passed over, and do not hold up the place', (t) => {
  const { backlog, journal } = prepare([untold, told, untold, untold]);
  t.deepEqual(ids(backlog, 1), ['2']);
  t.is(backlog.publishedUpTo, 1);
  backlog.settle(1);
  t.deepEqual(ids(backlog, 1), []);
  t.is(backlog.publishedUpTo, 2);
  journal.record([untold], 6);
  t.deepEqual(ids(backlog, 1), []);
  t.is(backlog.publishedUpTo, 5);
});

test('after a start, reading goes on behind the place that was kept', (t) => {
  t.deepEqual(ids(prepare([told, told, told], 2).backlog, 10), ['3']);
});

test('a place behind the end of the journal, as a power cut leaves it, is taken for its end', (t) => {
  const { backlog, journal } = prepare([told], 40);
  t.is(backlog.publishedUpTo, 1);
  journal.record([told], 6);
  t.deepEqual(ids(backlog, 10), ['2']);
});

test('memory holds a page of a long backlog, whatever is asked for', (t) => {
  const { backlog } = prepare(Array.from({ length: 1000 }, () => told));
  t.is(backlog.next(10_000).length, 32);
});

test('a change with several events is done with when the last of them is kept', (t) => {
  const { backlog } = prepare([told, toldTwice, told]);
  t.deepEqual(ids(backlog, 10), ['1', '2', '2.1', '3']);
  backlog.settle(2);
  t.is(backlog.publishedUpTo, 1, 'half of a change is not done with');
  t.deepEqual(ids(backlog, 1), ['2.1']);
  backlog.settle(1);
  t.is(backlog.publishedUpTo, 2);
});
