import test from 'ava';
import { AttachRequest, AttachResponse, Outcome, PullContentResponse, PushContentRequest } from '@mutirao/api/machine';
import { ConnectRequest, ConnectResponse, SendContentRequest } from '@mutirao/api/provider';
import fc from 'fast-check';
import {
  findAlternative,
  frameFromMachine,
  machineIdField,
  readToMachine,
  renumberChunk,
  scanReport,
  getSequence,
} from '../../../src/relay/wire.ts';
import { runs } from '@mutirao/testkit';

const anEnd = {
  replicaId: 7,
  outcome: Outcome.SUCCEEDED,
  exitStatus: 0,
  startedUnixMs: 1_700_000_000_000,
  endedUnixMs: 1_700_000_000_250,
  reason: '',
  detail: undefined,
  standardOutput: Buffer.from('out'),
  standardError: Buffer.alloc(0),
  outputTruncated: false,
  outputs: [
    {
      outputIndex: 0,
      path: '',
      content: { sha256: Buffer.alloc(32, 1), sizeBytes: 3 },
      mode: 0o644,
      inline: Buffer.from('abc'),
      transferId: '',
      droppedName: '',
    },
  ],
};
const aReport = getBytes(
  AttachRequest.encode({
    message: {
      $case: 'report',
      value: {
        sequence: 300,
        started: [{ replicaId: 8, startedUnixMs: 5 }],
        ended: [anEnd, { ...anEnd, replicaId: 9, startedUnixMs: 0 }],
        gangMemberReady: [{ replicaId: 10, name: 'ana@one', addresses: ['one:4000'] }],
      },
    },
  }).finish(),
);

function getBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes);
}

test("an agent's report reaches the broker as the message that it would be if it were written again", (t) => {
  const frame = frameFromMachine(machineIdField('c1/q1.0'), aReport);
  const { message } = ConnectResponse.decode(frame);
  t.deepEqual(message, {
    $case: 'fromMachine',
    value: { machineId: 'c1/q1.0', message: AttachRequest.decode(aReport).message as never },
  });
});

test('a frame is right whatever its length', (t) => {
  for (const size of [0, 1, 100, 127, 128, 16_380, 16_384, 2_097_152]) {
    const bytes = getBytes(
      AttachRequest.encode({
        message: {
          $case: 'report',
          value: {
            sequence: 1,
            started: [],
            ended: [{ ...anEnd, standardOutput: Buffer.alloc(size, 65) }],
            gangMemberReady: [],
          },
        },
      }).finish(),
    );
    const { message } = ConnectResponse.decode(frameFromMachine(machineIdField('m'.repeat(130)), bytes));
    t.true(
      message?.$case === 'fromMachine' &&
        message.value.message?.$case === 'report' &&
        message.value.message.value.ended[0]?.standardOutput.length === size,
    );
  }
});

test('ends are visited with their outcome and run time', (t) => {
  const ends: number[][] = [];
  scanReport(aReport, findAlternative(aReport).start, (...end) => {
    ends.push(end);
  });
  t.deepEqual(ends, [
    [7, Outcome.SUCCEEDED, 250],
    [9, Outcome.SUCCEEDED, 0],
  ]);
  t.is(getSequence(aReport, findAlternative(aReport).start), 300);
});

test('replicas that still run are visited where somebody wants to know', (t) => {
  const bytes = getBytes(
    AttachRequest.encode({
      message: {
        $case: 'report',
        value: {
          sequence: 2,
          started: [
            { replicaId: 300, startedUnixMs: 1_700_000_000_000 },
            { replicaId: 4, startedUnixMs: 0 },
          ],
          ended: [anEnd],
          gangMemberReady: [],
        },
      },
    }).finish(),
  );
  const [ends, starts]: [number[], number[]] = [[], []];
  scanReport(
    bytes,
    findAlternative(bytes).start,
    (replicaId) => {
      ends.push(replicaId);
    },
    (replicaId) => {
      starts.push(replicaId);
    },
  );
  t.deepEqual([ends.length, starts], [1, [300, 4]]);
});

test("a message to a machine becomes the agent's own message", (t) => {
  const messages: NonNullable<AttachResponse['message']>[] = [
    {
      $case: 'start',
      value: {
        template: undefined,
        replicas: [
          {
            replicaId: 1,
            taskIndex: 2,
            value: 'x',
            inputs: [],
            outputs: [],
            gang: undefined,
            onSuccessOnly: undefined,
          },
        ],
      },
    },
    { $case: 'cancel', value: { replicaIds: [1, 2, 3], onlyWaiting: true } },
    { $case: 'acknowledged', value: { sequence: 4 } },
    { $case: 'startGang', value: { replicaId: 4, members: [] } },
    {
      $case: 'content',
      value: {
        content: undefined,
        source: { $case: 'transferId', value: 't1' },
        offset: 0,
        linkable: false,
        pathProof: '',
      },
    },
  ];
  for (const message of messages) {
    const bytes = getBytes(
      ConnectRequest.encode({
        message: { $case: 'toMachine', value: { machineId: 'c1/q1.0', message: message as never } },
      }).finish(),
    );
    const frame = readToMachine(bytes, findAlternative(bytes).start);
    t.is(frame.machineId, 'c1/q1.0');
    t.deepEqual(AttachResponse.decode(frame.message).message, message);
  }
});

test('a chunk of a content changes only its tag on its way', (t) => {
  const data = Buffer.from('some bytes');
  const pushed = renumberChunk(
    getBytes(
      PushContentRequest.encode({ transferId: '', content: undefined, machineId: '', data, offset: 0 }).finish(),
    ),
    3,
  );
  const sent = renumberChunk(getBytes(SendContentRequest.encode({ transferId: '', data }).finish()), 2);
  t.deepEqual(PullContentResponse.decode(pushed ?? Buffer.alloc(0)).data, data);
  t.deepEqual(PullContentResponse.decode(sent ?? Buffer.alloc(0)).data, data);
});

test('a chunk with more than its data is left to those who decode it', (t) => {
  t.is(
    renumberChunk(getBytes(SendContentRequest.encode({ transferId: 't1', data: Buffer.from('x') }).finish()), 2),
    undefined,
  );
});

test('what is cut short, empty or doubled is refused', (t) => {
  for (const bytes of [
    Buffer.alloc(0),
    aReport.subarray(0, -1),
    Buffer.concat([aReport, aReport]),
    Buffer.from([0x0b, 0x01]),
    Buffer.from([0x12, 0x05, 0x08]),
  ]) {
    t.throws(() => findAlternative(bytes), { code: 'MUT_PROTOCOL' });
  }
});

test('a message that the walk lets pass is one that a broker can decode', (t) => {
  const start = findAlternative(aReport).start;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(aReport.length - start - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
      (edits) => {
        const bytes = Buffer.from(aReport);
        for (const [at, value] of edits) bytes[start + at] = value;
        try {
          scanReport(bytes, start, () => undefined);
        } catch {
          return true;
        }
        ConnectResponse.decode(frameFromMachine(machineIdField('c1/q1.0'), bytes));
        return true;
      },
    ),
    runs(20_050_902, 5_000),
  );
  t.pass();
});

test('a number that no reader can hold, and a field that reaches beyond its message, are refused', (t) => {
  const sequenceOf2To60 = Buffer.from([0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]);
  const detailBeyondItsEnd = Buffer.from([0x1a, 0x02, 0x3a, 0x03, 0x08, 0x01, 0x08, 0x01]);
  for (const bytes of [sequenceOf2To60, detailBeyondItsEnd]) {
    t.throws(
      () => {
        scanReport(bytes, 0, () => undefined);
      },
      { code: 'MUT_PROTOCOL' },
    );
  }
});
