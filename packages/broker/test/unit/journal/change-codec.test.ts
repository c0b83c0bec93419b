import test from 'ava';

import { countTasks, type BrokerChange, type ReplicaEnding } from '@mutirao/core/machines/broker';
import { openJournal } from '@mutirao/runtime/journal';
import { aJob, aMachine } from '@mutirao/testkit';

import { changeCodec, changeVersion, decodeChange, encodeChange } from '../../../src/journal/change-codec.ts';
import { JobSpecs } from '../../../src/journal/job-specs.ts';
import { JournalRecords } from '../../../src/journal/records.ts';

const nothing = new Uint8Array(0);

function anEnding(changes: Partial<ReplicaEnding> = {}): ReplicaEnding {
  return {
    replicaId: 7,
    taskIndex: 3,
    disposition: 'accepted',
    taskStatus: 'finished',
    outcome: 'succeeded',
    exitStatus: 0,
    dispatchedAt: 100,
    startedAt: 110,
    endedAt: 120,
    reason: '',
    detail: '',
    standardOutput: nothing,
    standardError: nothing,
    outputTruncated: false,
    outputs: [],
    ...changes,
  };
}

const output = {
  outputIndex: 0,
  path: 'a',
  content: { sha256: 'ab'.repeat(32), size: 3 },
  mode: 0o644,
  inline: undefined,
  transferId: 't1',
};

const changes: readonly BrokerChange[] = [
  { kind: 'JobAccepted', jobId: 1, userId: 'ana', clientJobId: 'k', spec: aJob(3), at: 1 },
  { kind: 'JobAccepted', jobId: 2, userId: 'ana', clientJobId: '', spec: aJob(3, { deadline: 99 }), at: 1 },
  { kind: 'TasksAppended', jobId: 1, appendKey: 'k', firstTaskIndex: 3, groups: aJob(2).groups, at: 2 },
  { kind: 'JobClosed', jobId: 1, at: 2 },
  { kind: 'JobCancelled', jobId: 1, reason: 'enough', at: 2 },
  { kind: 'TasksCancelled', jobId: 1, taskIndexes: [2, 5], reason: 'not these', at: 2 },
  { kind: 'JobEnded', jobId: 1, status: 'cancelled', at: 3 },
  { kind: 'TasksRetried', jobId: 1, taskIndexes: [2, 5], at: 4 },
  { kind: 'InputsRevised', jobId: 1, current: [{ path: '/h/s.sh', fingerprint: 'content:1' }], at: 4 },
  { kind: 'ReplicasDispatched', machineId: 'a/m', jobId: 1, firstReplicaId: 4, taskIndexes: [0, 1, 2], at: 5 },
  { kind: 'ReplicasDispatched', machineId: 'a/m', jobId: 1, firstReplicaId: 4, taskIndexes: [9, 1, 2], at: 5 },
  {
    kind: 'ReplicasStarted',
    machineId: 'a/m',
    jobId: 1,
    started: [
      { replicaId: 4, startedAt: 50 },
      { replicaId: 6, startedAt: 49 },
    ],
  },
  { kind: 'ReplicaVerifying', machineId: 'a/m', jobId: 1, ending: anEnding({ outputs: [output] }), at: 6 },
  {
    kind: 'ReplicasEnded',
    machineId: 'a/m',
    jobId: 1,
    at: 7,
    endings: [
      anEnding(),
      anEnding({
        replicaId: 8,
        taskIndex: 4,
        staging: { inputsAskedAt: 101, inputsHereAt: 104, inputsPlacingAt: 105, commandEndedAt: 118 },
        outputs: [output, { ...output, path: 'b' }],
      }),
      anEnding({
        replicaId: 12,
        taskIndex: 1,
        disposition: 'lost',
        taskStatus: 'ready',
        outcome: undefined,
        exitStatus: 1,
        startedAt: 0,
        reason: 'MUT_X',
        detail: 'gone',
        outputTruncated: true,
      }),
      anEnding({
        replicaId: 13,
        taskIndex: 9,
        staging: { inputsAskedAt: 0, inputsHereAt: 0, inputsPlacingAt: 0, commandEndedAt: 119 },
        usage: { memoryPeak: 5_000_000_000, processorTime: 90 },
        memoryNext: 10_000_000_000,
      }),
      anEnding({
        replicaId: 14,
        taskIndex: 10,
        detail: {
          code: 'gang-member-ended',
          machineId: 'a/m',
          endCode: '',
          cause: { code: 'exit-status', exitStatus: 2 },
        },
      }),
    ],
  },
  { kind: 'ProviderAdded', providerId: 'a', address: 'h:1' },
  { kind: 'MachineJoined', providerId: 'a', facts: aMachine('a/m'), at: 8 },
  { kind: 'MachineLost', machineId: 'a/m', reason: 'MUT_MACHINE_LOST', at: 9 },
  { kind: 'RequestsChanged', providerId: 'a', requests: [] },
];

test('every kind of change comes back from its line', (t) => {
  for (const change of changes) t.deepEqual(decodeChange(changeVersion, encodeChange(change)), change);
});

test('a usual batch of ends costs no bytes per replica', (t) => {
  const getBatch = (count: number): BrokerChange => ({
    kind: 'ReplicasEnded',
    machineId: 'a/m',
    jobId: 1,
    at: 7,
    endings: Array.from({ length: count }, (_, index) =>
      anEnding({ replicaId: 1000 + index, taskIndex: 5000 + index }),
    ),
  });
  t.is(encodeChange(getBatch(999)).length, encodeChange(getBatch(100)).length);
});

test('what a replica wrote is not in its line', (t) => {
  const change: BrokerChange = {
    kind: 'ReplicasEnded',
    machineId: 'a/m',
    jobId: 1,
    at: 7,
    endings: [anEnding({ standardOutput: Buffer.from('secret') })],
  };
  t.notRegex(encodeChange(change), /secret|115,101/);
});

test('a line of a later release is refused by name', (t) => {
  t.throws(() => decodeChange(changeVersion + 1, '{}'), { code: 'MUT_JOURNAL_NEWER' });
});

test('promises to users are synced to disk, reports of machines are not', (t) => {
  const durable = changes.filter((change) => changeCodec.isDurable(change)).map((change) => change.kind);
  t.deepEqual(
    [...new Set(durable)],
    [
      'JobAccepted',
      'TasksAppended',
      'JobClosed',
      'JobCancelled',
      'TasksCancelled',
      'JobEnded',
      'TasksRetried',
      'InputsRevised',
      'ProviderAdded',
    ],
  );
});

test('the records of a page of tasks are found among many batches, in the order in which replicas ended', (t) => {
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  const ended = (...endings: ReplicaEnding[]): BrokerChange => ({
    kind: 'ReplicasEnded',
    machineId: 'a/m',
    jobId: 1,
    at: 7,
    endings,
  });
  journal.record(
    [
      ended(anEnding({ taskIndex: 0 }), anEnding({ taskIndex: 9000, replicaId: 1 })),
      ended(anEnding({ taskIndex: 5, replicaId: 2, disposition: 'failed' }), anEnding({ taskIndex: 8, replicaId: 3 })),
      { ...ended(anEnding({ taskIndex: 5, replicaId: 99 })), jobId: 2 } as BrokerChange,
      ended(anEnding({ taskIndex: 5, replicaId: 4 })),
      ended(anEnding({ taskIndex: 8999, replicaId: 5 }), anEnding({ taskIndex: 9001, replicaId: 6 })),
    ],
    7,
  );
  const records = new JournalRecords(journal);
  t.deepEqual(
    records
      .endingsOf(1, 5, 7)
      .get(5)
      ?.map((record) => [record.replicaId, record.disposition, record.machineId]),
    [
      [2, 'failed', 'a/m'],
      [4, 'accepted', 'a/m'],
    ],
  );
  t.deepEqual([...records.endingsOf(1, 5, 7).keys()], [5]);
  t.deepEqual([...records.endingsOf(1, 9000, 9001).keys()].sort(), [9000, 9001]);
  t.is(records.endingsOf(3, 0, 10_000).size, 0);
  journal.close();
});

test('what a verified replica wrote is kept when its end comes without it', (t) => {
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  const ending = anEnding({ standardOutput: Buffer.from('out'), standardError: Buffer.from('err') });
  journal.record([{ kind: 'ReplicaVerifying', machineId: 'a/m', jobId: 1, ending, at: 6 }], 6);
  journal.record([{ kind: 'ReplicasEnded', machineId: 'a/m', jobId: 1, endings: [anEnding()], at: 7 }], 7);
  const records = new JournalRecords(journal);
  const kept = records.getOutput(1, 3, 7);
  t.is(Buffer.from(kept?.standardOutput ?? []).toString(), 'out');
  t.is(Buffer.from(kept?.standardError ?? []).toString(), 'err');
  t.is(records.getOutput(1, 3, 8), undefined);
  journal.close();
});

test('the spec of a job that has finished is read from the journal, and kept for a while', (t) => {
  let readCount = 0;
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  journal.record(changes, 1);
  const specs = new JobSpecs({
    read: (selection) => {
      readCount += 1;
      return journal.read(selection);
    },
  });
  const job = { jobId: 2, spec: undefined, revisedInputs: [] } as unknown as Parameters<JobSpecs['getSpec']>[0];
  t.is(specs.getSpec(job).deadline, 99);
  t.is(specs.getSpec(job).deadline, 99);
  t.is(readCount, 1);
  journal.close();
});

test('the spec of an open job that has finished has what was appended', (t) => {
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  const other: BrokerChange = { kind: 'JobCancelled', jobId: 2, reason: '', at: 2 };
  journal.record(
    [
      { kind: 'JobAccepted', jobId: 2, userId: 'ana', clientJobId: '', spec: aJob(1, { open: true }), at: 1 },
      ...Array.from({ length: 1500 }, () => other),
      { kind: 'TasksAppended', jobId: 2, appendKey: 'a', firstTaskIndex: 1, groups: aJob(2).groups, at: 2 },
      other,
      { kind: 'TasksAppended', jobId: 2, appendKey: 'b', firstTaskIndex: 3, groups: aJob(4).groups, at: 2 },
    ],
    1,
  );
  const job = { jobId: 2, taskCount: 7, spec: undefined, revisedInputs: [] };
  const spec = new JobSpecs(journal).getSpec(job as unknown as Parameters<JobSpecs['getSpec']>[0]);
  t.deepEqual(spec.groups.map(countTasks), [1, 2, 4]);
  journal.close();
});
