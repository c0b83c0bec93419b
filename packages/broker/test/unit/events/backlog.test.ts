import test from 'ava';

import type { BrokerChange } from '@mutirao/core/machines/broker';
import { openJournal } from '@mutirao/runtime/journal';

import { EventBacklog } from '../../../src/events/backlog.ts';
import { changeCodec } from '../../../src/journal/change-codec.ts';

const told = (jobId: number): BrokerChange => ({ kind: 'JobCancelled', jobId, reason: '', at: 1 });
const untold: BrokerChange = { kind: 'ReplicasStarted', machineId: 'lab/pc0', jobId: 1, started: [] };
const ended = (jobId: number): BrokerChange => ({
  kind: 'ReplicasEnded', jobId, machineId: 'm',
  endings: [{
    replicaId: 1, taskIndex: 3, processors: 1, placedAt: 0, startedAt: 0, endedAt: 0, outcome: 'failed', exitStatus: 1, detail: '', outputs: [],
    fate: 'failed', taskStatus: 'failed', reason: 'MUT_TASK_FAILED', requestId: '', standardOutput: new Uint8Array(), standardError: new Uint8Array(), outputTruncated: false,
  }],
} as unknown as BrokerChange);

function prepare(changes: readonly BrokerChange[], publishedUpTo = 0) {
  const journal = openJournal({ path: ':memory:', codec: { version: 1, encode: changeCodec.encode, decode: changeCodec.decode, jobOf: changeCodec.jobOf, isDurable: () => false } });
  journal.record(changes, 5);
  return { journal, backlog: new EventBacklog(journal, 's', publishedUpTo) };
}

const ids = (backlog: EventBacklog, max: number): string[] => backlog.next(max).map(({ headers }) => headers['ce-id'] ?? '');

test('messages come in the order of the journal, and again until they are kept', (t) => {
  const { backlog } = prepare([told(1), told(2), told(3)]);
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
  const { backlog, journal } = prepare([untold, told(1), untold, untold]);
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
  t.deepEqual(ids(prepare([told(1), told(2), told(3)], 2).backlog, 10), ['3']);
});

test('a place behind the end of the journal, as a power cut leaves it, is taken for its end', (t) => {
  const { backlog, journal } = prepare([told(1)], 40);
  t.is(backlog.publishedUpTo, 1);
  journal.record([told(2)], 6);
  t.deepEqual(ids(backlog, 10), ['2']);
});

test('memory holds a page of a long backlog, whatever is asked for', (t) => {
  const { backlog } = prepare(Array.from({ length: 1000 }, (_, index) => told(index + 1)));
  t.is(backlog.next(10_000).length, 32);
});

test('a change with several events is done with when the last of them is kept', (t) => {
  const { backlog } = prepare([told(1), ended(1), told(1)]);
  t.deepEqual(ids(backlog, 10), ['1', '2', '2.1', '3']);
  backlog.settle(2);
  t.is(backlog.publishedUpTo, 1, 'half of a change is not done with');
  t.deepEqual(ids(backlog, 1), ['2.1']);
  backlog.settle(1);
  t.is(backlog.publishedUpTo, 2);
});
