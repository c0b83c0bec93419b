import test from 'ava';

import { EventBacklog } from '../../../src/events/backlog.ts';
import { openJournal } from '../../../src/journal/index.ts';
import { changeCodec, encodeEntry, type ReportedChange } from './reported-change.ts';

const unreported: ReportedChange = { events: 0 };
const reported: ReportedChange = { events: 1 };
const reportedTwice: ReportedChange = { events: 2 };

function prepare(changes: readonly ReportedChange[], publishedUpTo = 0) {
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  journal.record(changes, 5);
  return { journal, backlog: new EventBacklog(journal, (entry) => encodeEntry('s', entry), publishedUpTo) };
}

const ids = (backlog: EventBacklog<ReportedChange>, max: number): string[] =>
  backlog.next(max).map(({ headers }) => headers['ce-id'] ?? '');

test('messages come in the order of the journal, and again until they are kept', (t) => {
  const { backlog } = prepare([reported, reported, reported]);
  t.deepEqual(ids(backlog, 2), ['1', '2']);
  t.deepEqual(ids(backlog, 10), ['1', '2', '3']);
  backlog.settle(2);
  t.is(backlog.publishedUpTo, 2);
  t.deepEqual(ids(backlog, 10), ['3']);
  backlog.settle(1);
  t.deepEqual(ids(backlog, 10), []);
  t.is(backlog.lag, 0);
});

test('changes without messages are skipped and do not hold up the position', (t) => {
  const { backlog, journal } = prepare([unreported, reported, unreported, unreported]);
  t.deepEqual(ids(backlog, 1), ['2']);
  t.is(backlog.publishedUpTo, 1);
  backlog.settle(1);
  t.deepEqual(ids(backlog, 1), []);
  t.is(backlog.publishedUpTo, 2);
  journal.record([unreported], 6);
  t.deepEqual(ids(backlog, 1), []);
  t.is(backlog.publishedUpTo, 5);
});

test('after a start, reading goes on behind the place that was kept', (t) => {
  t.deepEqual(ids(prepare([reported, reported, reported], 2).backlog, 10), ['3']);
});

test('a place behind the end of the journal, as a power cut leaves it, is taken for its end', (t) => {
  const { backlog, journal } = prepare([reported], 40);
  t.is(backlog.publishedUpTo, 1);
  journal.record([reported], 6);
  t.deepEqual(ids(backlog, 10), ['2']);
});

test('memory holds a page of a long backlog, whatever is asked for', (t) => {
  const { backlog } = prepare(Array.from({ length: 1000 }, () => reported));
  t.is(backlog.next(10_000).length, 32);
});

test('a change with several events is done with when the last of them is kept', (t) => {
  const { backlog } = prepare([reported, reportedTwice, reported]);
  t.deepEqual(ids(backlog, 10), ['1', '2', '2.1', '3']);
  backlog.settle(2);
  t.is(backlog.publishedUpTo, 1, 'half of a change is not done with');
  t.deepEqual(ids(backlog, 1), ['2.1']);
  backlog.settle(1);
  t.is(backlog.publishedUpTo, 2);
});
