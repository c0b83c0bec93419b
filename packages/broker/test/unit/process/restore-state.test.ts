import test from 'ava';

import {
  brokerMachine,
  createBrokerState,
  snapshot,
  type BrokerChange,
  type BrokerInput,
  type BrokerState,
} from '@mutirao/core/machines/broker';
import { openJournal, type Journal } from '@mutirao/runtime/journal';
import { aJob, aMachine, anEnd } from '@mutirao/testkit';

import { changeCodec } from '../../../src/journal/change-codec.ts';
import { restoreState } from '../../../src/process/restore-state.ts';
import { Snapshots } from '../../../src/process/snapshots.ts';

/** A broker in mid-job, and its journal. */
function midJob(): {
  state: BrokerState;
  journal: Journal<BrokerChange>;
  step(...inputs: readonly BrokerInput[]): void;
} {
  const state = createBrokerState();
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  let now = 1000;
  const step = (...inputs: readonly BrokerInput[]): void => {
    now += 10;
    journal.record(brokerMachine.step(state, inputs, now).changes, now);
  };
  step(
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'alpha', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'alpha' },
  );
  step({ kind: 'JobSubmitted', replyTo: 0, userId: 'ana', clientJobId: 'k', spec: aJob(20) });
  step({
    kind: 'MachineJoined',
    providerId: 'alpha',
    facts: aMachine('alpha/m', { processors: 3 }),
    heldReplicaIds: [],
  });
  step({
    kind: 'MachineReported',
    machineId: 'alpha/m',
    report: {
      sequence: 1,
      started: [{ replicaId: 3, startedAt: 1030 }],
      ended: [
        anEnd(1, 'succeeded', { startedAt: 1025, endedAt: 1030 }),
        anEnd(2, 'failed', { startedAt: 1025, endedAt: 1030 }),
      ],
    },
  });
  return { state, journal, step };
}

test('a state comes back from its journal, with or without a snapshot in the middle', (t) => {
  const { state, journal, step } = midJob();
  t.is(snapshot(restoreState(journal, {}).state), snapshot(state));
  t.is(restoreState(journal, {}).snapshotAt, 0);
  journal.writeSnapshot(journal.lastSequence(), snapshot(state));
  step({ kind: 'JobSubmitted', replyTo: 0, userId: 'ana', clientJobId: 'k2', spec: aJob(2) });
  const restored = restoreState(journal, {});
  t.is(snapshot(restored.state), snapshot(state));
  t.true(restored.snapshotAt > 0 && restored.replayedCount >= 1 && restored.replayedCount < 5);
  brokerMachine.checkInvariants(restored.state);
  journal.close();
});

test('a snapshot that this release cannot read is passed over', (t) => {
  const { state, journal } = midJob();
  journal.writeSnapshot(journal.lastSequence(), '{"version":99}');
  t.is(snapshot(restoreState(journal, {}).state), snapshot(state));
  journal.close();
});

test('snapshots are taken after enough changes, never twice of the same, and not too much of the time', (t) => {
  const { state, journal, step } = midJob();
  let now = 0;
  const clock = { now: () => (now += 10) };
  const snapshots = new Snapshots({
    journal,
    clock,
    lastSequence: 0,
    rules: { changesMin: 3, timeShare: 50, fullPause: 1000 },
  });
  t.is(snapshots.takeWhenDue(state), 10);
  const first = journal.latestSnapshot()?.sequence;
  t.is(first, journal.lastSequence());
  t.is(snapshots.takeWhenDue(state), undefined, 'nothing changed');
  const submit = (): void => {
    step({ kind: 'JobSubmitted', replyTo: 0, userId: 'ana', clientJobId: '', spec: aJob(1) });
  };
  for (let count = 0; count < 3; count += 1) submit();
  t.is(snapshots.takeWhenDue(state), undefined, 'the last one took 10 ms, so the next may begin 500 ms later');
  now += 500;
  t.is(snapshots.takeWhenDue(state), 10);
  t.true((journal.latestSnapshot()?.sequence ?? 0) > (first ?? 0));
  journal.close();
});
