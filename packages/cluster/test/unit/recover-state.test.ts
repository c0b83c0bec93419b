import test from 'ava';
import {
  clusterMachine,
  createClusterState,
  listQueue,
  type ClusterInput,
  type ClusterOptions,
} from '@mutirao/core/machines/cluster';
import { conservativeBackfilling, easyBackfilling } from '@mutirao/core/queue';
import { openJournal } from '@mutirao/runtime/journal';
import { clusterChangeCodec } from '../../src/change-codec.ts';
import { recoverState } from '../../src/recover-state.ts';

const options: ClusterOptions = {
  processors: 4,
  requestsMax: 10,
  walltimeMax: 1000,
  widthMax: 4,
  walltimeGranularity: 1,
  endedMax: 20,
  policy: conservativeBackfilling('reinsert'),
};

/**
 * A journal of a cluster that ran `requestCount` requests of one processor, one after the other, and holds a running
 * and a queued one.
 */
function aJournal(requestCount: number, other: Partial<ClusterOptions> = {}) {
  const journal = openJournal({ path: ':memory:', codec: clusterChangeCodec });
  const state = createClusterState({ ...options, ...other });
  const receive = (now: number, input: ClusterInput): void => {
    journal.record(clusterMachine.step(state, [input], now).changes, now);
  };
  const order = (width: number) => ({
    userId: 'ana',
    clientRequestId: '',
    width,
    walltime: 100,
    command: ['work'],
    environment: {},
    workingDirectory: '',
  });
  receive(0, { kind: 'ClusterStarted' });
  for (let id = 1; id <= requestCount; id += 1) {
    receive(id, { kind: 'AllocationRequested', replyTo: 1, order: order(1) });
    receive(id, { kind: 'ProcessExited', requestId: id, processIndex: 0, exitStatus: 0 });
  }
  for (const width of [3, 4])
    receive(requestCount + 1, { kind: 'AllocationRequested', replyTo: 1, order: order(width) });
  return { journal, state };
}

test('a recovered cluster is the one that wrote the journal', (t) => {
  const { journal, state } = aJournal(5);
  const recovered = recoverState(journal, options);
  clusterMachine.checkInvariants(recovered);
  t.deepEqual(listQueue(recovered, 9, 50), listQueue(state, 9, 50));
  t.is(journal.latestSnapshot(), undefined);
});

test('after many changes a snapshot spares the next start from reading them, and says the same', (t) => {
  const { journal, state } = aJournal(2100);
  recoverState(journal, options);
  t.is(journal.latestSnapshot()?.sequence, journal.lastSequence());
  journal.database.exec('DELETE FROM changes');
  const recovered = recoverState(journal, options);
  clusterMachine.checkInvariants(recovered);
  t.deepEqual(listQueue(recovered, 9, 50), listQueue(state, 9, 50));
});

test('a snapshot of a form that is not known is passed over', (t) => {
  const { journal, state } = aJournal(3);
  journal.writeSnapshot(journal.lastSequence(), JSON.stringify({ version: 99, state: {} }));
  t.deepEqual(listQueue(recoverState(journal, options), 9, 50), listQueue(state, 9, 50));
});

for (const requestCount of [5, 2100]) {
  test(`scores are there again after a restart, ${requestCount > 1000 ? 'from a snapshot' : 'from the changes'}, also where the order is that of arrival meanwhile`, (t) => {
    const byScores = { policy: easyBackfilling, order: { weight: 1440, leadMax: 1e9 } };
    const { journal, state } = aJournal(requestCount, byScores);
    t.is(state.scores.get('ana')?.countedCount, requestCount);
    t.deepEqual(recoverState(journal, options).scores, state.scores);
    if (requestCount > 1000) journal.database.exec('DELETE FROM changes');
    t.deepEqual(recoverState(journal, { ...options, ...byScores }).scores, state.scores);
  });
}
