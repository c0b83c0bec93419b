import test from 'ava';

import { encodeAllocationRequest, encodeMachineFacts, encodeReport, encodeResourceStatus } from '@mutirao/api/codecs';
import type { ConnectResponse } from '@mutirao/api/provider';
import type { BrokerInput } from '@mutirao/core/machines/broker';
import type { Content, MachineReport, OutputContent } from '@mutirao/core/messages';
import { aMachine, anEnd } from '@mutirao/testkit';

import { FromProvider } from '../../../src/providers/from-provider.ts';
import { SerialExecutor } from '../../../src/concurrency/serial-executor.ts';

type Message = NonNullable<ConnectResponse['message']>;

const output: OutputContent = {
  outputIndex: 0,
  path: '',
  content: { sha256: 'ab'.repeat(32), size: 3 },
  mode: 0o644,
  inline: Buffer.from('abc'),
  transferId: '',
};

function reportOf(sequence: number, outputs: readonly OutputContent[] = []): MachineReport {
  return { sequence, started: [], ended: [{ ...anEnd(7, 'succeeded', { startedAt: 1, endedAt: 2 }), outputs }] };
}

function fromMachine(machineId: string, report: MachineReport): Message {
  return { $case: 'fromMachine', value: { machineId, message: { $case: 'report', value: encodeReport(report) } } };
}

function joined(machineId: string): Message {
  return { $case: 'joined', value: { facts: encodeMachineFacts(aMachine(machineId)), heldReplicaIds: [4] } };
}

function prepare(): {
  from: FromProvider;
  inputs: BrokerInput[];
  held: number[];
  pushed: unknown[];
  wanted: (readonly Content[])[];
  disk: PromiseWithResolvers<void>;
  serialExecutor: SerialExecutor<string>;
  connection: { isLost: boolean };
} {
  const inputs: BrokerInput[] = [];
  const held: number[] = [];
  const pushed: unknown[] = [];
  const wanted: (readonly Content[])[] = [];
  const disk = Promise.withResolvers<void>();
  const connection = { isLost: false };
  const serialExecutor = new SerialExecutor<string>((error) => {
    throw error;
  });
  const from = new FromProvider(
    'alpha',
    {
      deliver: (input) => inputs.push(input),
      describeMachine: (facts) => facts,
      countPrinted: (_machineId, report) => ({ report, release: () => undefined }),
      keepOutputs: async (_machineId, report) => {
        await disk.promise;
        return connection.isLost ? undefined : report;
      },
      fetchPushed: (...transfer) => pushed.push(transfer),
      takeOutput: () => undefined,
      serveWanted: (_machineId, contents) => wanted.push(contents),
      onHeldBytes: (bytes) => held.push(bytes),
    },
    serialExecutor,
  );
  return { from, inputs, held, pushed, wanted, disk, serialExecutor, connection };
}

test('what a provider says becomes an input at once', (t) => {
  const { from, inputs } = prepare();
  from.receive(joined('alpha/m1'));
  from.receive(fromMachine('alpha/m1', reportOf(1)));
  from.receive({ $case: 'lost', value: { machineId: 'alpha/m1', reason: 'MUT_MACHINE_LOST' } });
  from.receive({ $case: 'settled', value: {} });
  t.deepEqual(
    inputs.map((input) => input.kind),
    ['MachineJoined', 'MachineReported', 'MachineLost', 'ProviderSynced'],
  );
  t.like(inputs[0], { providerId: 'alpha', heldReplicaIds: [4] });
  t.false('isGone' in (inputs[0] ?? {}));
});

test('a report with files delays what its machine says next and the end of the sync, but no other machine', async (t) => {
  const { from, inputs, held, disk, serialExecutor } = prepare();
  from.receive(fromMachine('alpha/m1', reportOf(1, [output])));
  from.receive(fromMachine('alpha/m1', reportOf(2)));
  from.receive(joined('alpha/m2'));
  from.receive({ $case: 'settled', value: {} });
  t.deepEqual(
    inputs.map((input) => input.kind),
    ['MachineJoined'],
  );
  t.deepEqual(held, [3]);
  disk.resolve();
  await serialExecutor.whenDone();
  await Promise.resolve();
  t.deepEqual(
    inputs.map((input) => (input.kind === 'MachineReported' ? input.report.sequence : input.kind)),
    ['MachineJoined', 1, 2, 'ProviderSynced'],
  );
  t.deepEqual(held, [3, 0]);
});

test('a report whose connection is lost before its outputs are here is not delivered: it comes again', async (t) => {
  const { from, inputs, disk, serialExecutor, connection } = prepare();
  from.receive(fromMachine('alpha/m1', reportOf(1, [output])));
  connection.isLost = true;
  disk.resolve();
  await serialExecutor.whenDone();
  t.deepEqual(inputs, []);
});

test('the acknowledgement of a lease is delivered', (t) => {
  const { from, inputs } = prepare();
  from.receive({ $case: 'leaseConfirmed', value: { sequence: 3 } });
  t.deepEqual(inputs, [{ kind: 'LeaseConfirmed', providerId: 'alpha', sequence: 3 }]);
});

test('the status of a resource is delivered, and a malformed one ends the connection', (t) => {
  const { from, inputs } = prepare();
  const resourceStatus = { processors: 8, widthMax: 6, isTimeShared: false, isDraining: true };
  from.receive({ $case: 'resource', value: encodeResourceStatus(resourceStatus) });
  t.deepEqual(inputs, [{ kind: 'ResourceReported', providerId: 'alpha', resourceStatus }]);
  t.throws(
    () => {
      from.receive({ $case: 'resource', value: { ...encodeResourceStatus(resourceStatus), processors: 5 } });
    },
    { code: 'MUT_BAD_REQUEST' },
  );
});

test('wanted and pushed contents are passed on', (t) => {
  const { from, wanted, pushed } = prepare();
  const content = { sha256: Buffer.alloc(32, 1), sizeBytes: 9 };
  from.receive({
    $case: 'fromMachine',
    value: {
      machineId: 'alpha/m1',
      message: {
        $case: 'blobRequest',
        value: { contents: [content], offsets: [], overWire: false, sharedTokens: [], challenge: '', homeProofs: [] },
      },
    },
  });
  from.receive({
    $case: 'fromMachine',
    value: {
      machineId: 'alpha/m1',
      message: { $case: 'blobUpload', value: { transferId: 't1', content, isKept: false } },
    },
  });
  t.deepEqual(wanted, [[{ sha256: '01'.repeat(32), size: 9 }]]);
  t.deepEqual(pushed, [
    ['alpha/m1', { transferId: 't1', content: { sha256: '01'.repeat(32), size: 9 }, isKept: false }],
  ]);
});

test('nonsense, and talk of machines of others, is refused', (t) => {
  const { from, inputs } = prepare();
  t.throws(
    () => {
      from.receive(joined('beta/m1'));
    },
    { code: 'MUT_PROTOCOL', message: /"beta\/m1", which is not its own/ },
  );
  t.throws(
    () => {
      from.receive({ $case: 'joined', value: { facts: undefined, heldReplicaIds: [] } });
    },
    { code: 'MUT_BAD_REQUEST' },
  );
  t.throws(
    () => {
      from.receive({ $case: 'fromMachine', value: { machineId: 'alpha/m', message: undefined } });
    },
    { code: 'MUT_PROTOCOL' },
  );
  const request = {
    ...encodeAllocationRequest({
      providerId: 'alpha',
      requestId: '1',
      managerRequestId: '',
      width: 1,
      walltime: 1,
      status: 'queued',
      seenAt: 0,
      submittedAt: 0,
      startedAt: 0,
      endedAt: 0,
      reasons: [],
      heuristic: '',
    }),
    status: 0 as const,
  };
  t.throws(
    () => {
      from.receive({ $case: 'requests', value: { requests: [request] } });
    },
    { code: 'MUT_BAD_REQUEST' },
  );
  t.deepEqual(inputs, []);
});

test('what a machine says that cannot be is reported as such, with the number of its report, and its provider goes on', (t) => {
  const { from, inputs } = prepare();
  const content = { sha256: Buffer.alloc(31), sizeBytes: 9 };
  from.receive(fromMachine('alpha/m', { sequence: 0, started: [], ended: [] }));
  from.receive(
    fromMachine('alpha/m', {
      sequence: 8,
      started: [],
      ended: [{ ...anEnd(7, 'succeeded', { startedAt: 1, endedAt: 2 ** 51 }) }],
    }),
  );
  from.receive({
    $case: 'fromMachine',
    value: {
      machineId: 'alpha/m',
      message: {
        $case: 'blobRequest',
        value: { contents: [content], offsets: [], overWire: false, sharedTokens: [], challenge: '', homeProofs: [] },
      },
    },
  });
  from.receive({
    $case: 'fromMachine',
    value: {
      machineId: 'alpha/m',
      message: { $case: 'blobUpload', value: { transferId: 't1', content, isKept: false } },
    },
  });
  from.receive(fromMachine('alpha/other', reportOf(1)));
  t.deepEqual(
    inputs.map((input) => [input.kind, 'sequence' in input ? input.sequence : undefined]),
    [
      ['MachineMisbehaved', 0],
      ['MachineMisbehaved', 8],
      ['MachineMisbehaved', undefined],
      ['MachineMisbehaved', undefined],
      ['MachineReported', undefined],
    ],
  );
  t.like(inputs[1], {
    machineId: 'alpha/m',
    detail: `ended.ended_unix_ms is ${2 ** 51}; expected 0 to 253402300799999`,
  });
});

test('a machine that is reported as gone is delivered as lost', (t) => {
  const { from, inputs } = prepare();
  from.receive({
    $case: 'joined',
    value: { facts: encodeMachineFacts(aMachine('alpha/m1')), heldReplicaIds: [], isGone: true },
  });
  t.like(inputs[0], { kind: 'MachineJoined', isGone: true });
});
