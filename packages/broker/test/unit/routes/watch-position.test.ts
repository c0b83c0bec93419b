import test from 'ava';

import { WatchJobResponse, type WatchJobRequest } from '@mutirao/api/broker';
import { openJournal } from '@mutirao/runtime/journal';
import type { StreamWriter } from '@mutirao/runtime/rpc';
import { aCallContext } from '@mutirao/testkit';

import { JobWatchers } from '../../../src/events/job-watchers.ts';
import { changeCodec } from '../../../src/journal/change-codec.ts';
import type { BrokerParts } from '../../../src/routes/broker-parts.ts';
import { watchJobRoute } from '../../../src/routes/watch-job.ts';
import { eventsFor, taskIndexesUsual } from '../../../src/routes/watched-events.ts';

/** Watches a journal of two changes until all are sent. */
async function watch(request: Partial<WatchJobRequest>): Promise<WatchJobResponse[]> {
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  journal.record(
    [
      { kind: 'ProviderAdded', providerId: 'a', address: 'h:1' },
      { kind: 'ProviderAdded', providerId: 'b', address: 'h:2' },
    ],
    1,
  );
  const parts = {
    journal,
    journalInstance: 'first',
    watchers: new JobWatchers(),
    ownerId: 'ana',
  } as unknown as BrokerParts;
  const reported: WatchJobResponse[] = [];
  const leaving = new AbortController();
  const writer = {
    onDrain: undefined,
    end: () => undefined,
    drained: () => Promise.resolve(),
    write: (message: WatchJobResponse) => {
      reported.push(message);
      if (message.events.length === 0) leaving.abort();
      return true;
    },
  } as unknown as StreamWriter<WatchJobResponse>;
  try {
    await watchJobRoute(parts)(
      { jobId: 0, afterSequence: 0, ...request },
      writer,
      aCallContext({ signal: leaving.signal }),
    );
    return reported;
  } finally {
    journal.close();
  }
}

test('each answer names the journal, and a watcher that names it continues from its position', async (t) => {
  const reported = await watch({ afterSequence: 1, journalInstance: 'first' });
  t.deepEqual(
    reported.map(({ events, journalInstance }) => [events.map(({ sequence }) => sequence), journalInstance]),
    [
      [[2], 'first'],
      [[], 'first'],
    ],
  );
  t.is((await watch({ afterSequence: 2 })).length, 1, 'the end itself is a place to go on from');
});

test('an event of a great many tasks comes with as many indexes as any client takes, and with their number', (t) => {
  const driver = { state: { jobs: new Map([[1, { userId: 'ana' }]]) } } as unknown as BrokerParts['driver'];
  const taskIndexes = Array.from({ length: taskIndexesUsual + 1 }, (_, index) => 4_000_000_000 + index);
  const entry = { sequence: 1, at: 1, change: { kind: 'TasksRetried', jobId: 1, taskIndexes, at: 1 } as const };
  const events = eventsFor({ driver }, 'ana', { entry, taskIndexesMax: undefined }).map(({ event }) => event);
  t.true(WatchJobResponse.encode({ events }).finish().length < 4 * 1024 * 1024);
  t.deepEqual(
    events.map((event) => [event.taskIndexes.length, event.taskCount]),
    [[taskIndexesUsual, taskIndexesUsual + 1]],
  );
});

test('a watcher whose position is beyond the end, or in another journal, is refused', async (t) => {
  await t.throwsAsync(watch({ afterSequence: 999_999 }), {
    code: 'MUT_JOURNAL_POSITION',
    message: 'sequence 999999 is beyond the end of journal first, which has 2 changes',
  });
  await t.throwsAsync(watch({ afterSequence: 1, journalInstance: 'another' }), {
    code: 'MUT_JOURNAL_POSITION',
    message: /is of journal another; this one is first, with 2 changes/,
  });
});
