import test from 'ava';

import {
  decodeCancelReplicas,
  decodeBlobOffer,
  decodeBlobRequest,
  decodeMachineFacts,
  decodeOutcome,
  decodeReport,
  decodeStartReplicas,
  encodeCancelReplicas,
  encodeBlobOffer,
  encodeBlobRequest,
  encodeMachineFacts,
  encodeReport,
  encodeStartReplicas,
  type ContentOffer,
} from '@mutirao/api/codecs';
import type { MachineFacts, MachineReport, StartReplicas } from '@mutirao/core/messages';

import {
  CancelReplicas,
  BlobOffer,
  BlobRequest,
  MachineFacts as MachineFactsWire,
  Report,
  StartReplicas as StartReplicasWire,
  type Outcome,
} from '../../../src/generated/mutirao/machine/v1/machine.ts';

const content = { sha256: 'ab'.repeat(32), size: 3 };

interface MessageFns<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

function sent<T>(type: MessageFns<T>, message: T): T {
  return type.decode(Buffer.from(type.encode(message).finish()));
}

test('a batch of replicas comes out as it went in', (t) => {
  const batch: StartReplicas = {
    template: {
      jobId: 3,
      userId: 'ana',
      command: 'run {}',
      noOp: false,
      environment: { MODE: 'fast' },
      limits: { runTimeMax: 1000, memoryMax: 2, outputMax: 3 },
      processors: 2,
    },
    replicas: [
      {
        replicaId: 7,
        taskIndex: 0,
        value: 'a',
        inputs: [{ root: 'storage', path: 'tool', content, mode: 0o755 }],
        outputs: [{ root: 'playpen', path: 'out' }],
      },
      { replicaId: 8, taskIndex: 1, value: 'b', inputs: [], outputs: [], onSuccessOnly: true },
    ],
  };
  t.deepEqual(decodeStartReplicas(sent(StartReplicasWire, encodeStartReplicas(batch))), batch);
});

test('a report comes out as it went in, with its bytes', (t) => {
  const report: MachineReport = {
    sequence: 4,
    started: [{ replicaId: 9, startedAt: 50 }],
    ended: [
      {
        replicaId: 7,
        outcome: 'limited',
        exitStatus: 137,
        startedAt: 10,
        endedAt: 20,
        reason: 'MUT_X',
        detail: 'too long',
        standardOutput: Buffer.from('out'),
        standardError: Buffer.from(''),
        outputTruncated: true,
        outputs: [
          { outputIndex: 1, path: 'a/b', content, mode: 0o644, inline: Buffer.from('abc'), transferId: '' },
          { outputIndex: 0, path: '', content, mode: 0o600, inline: undefined, transferId: 't1' },
        ],
        staging: { inputsAskedAt: 5, inputsHereAt: 8, inputsPlacingAt: 9, commandEndedAt: 18 },
      },
    ],
  };
  t.deepEqual(decodeReport(sent(Report, encodeReport(report))), report);
});

test('facts come out as they went in, with names of attributes in lower case', (t) => {
  const facts: MachineFacts = {
    machineId: 'alpha/1.0',
    incarnation: 'x',
    processors: 4,
    attributes: { os: 'linux' },
    until: undefined,
    requestId: '1',
  };
  t.deepEqual(decodeMachineFacts(sent(MachineFactsWire, encodeMachineFacts(facts))), facts);
  const reserved: MachineFacts = {
    ...facts,
    reservation: { resourceId: 'alpha', reservationId: 7, revision: 2, userId: 'ana', mark: 'c2lnbmF0dXJl' },
  };
  t.deepEqual(decodeMachineFacts(sent(MachineFactsWire, encodeMachineFacts(reserved))), reserved);
  t.is(decodeMachineFacts(encodeMachineFacts({ ...facts, until: 9 })).until, 9);
  t.deepEqual(decodeMachineFacts({ ...encodeMachineFacts(facts), attributes: { OS: 'linux' } }).attributes, {
    os: 'linux',
  });
  for (const hostile of [
    { machineId: 'lab/\u001b]0;x\u0007' },
    { identity: 'x\u202e' },
    { attributes: { os: 'linux\nlab/forged' } },
    { attributes: { '\u009b2J': '1' } },
  ]) {
    t.throws(() => decodeMachineFacts({ ...encodeMachineFacts(facts), ...hostile }), {
      code: 'MUT_BAD_REQUEST',
      message: /expected no control characters/,
    });
  }
});

test('cancels, wanted contents and offers come out as they went in', (t) => {
  const cancel = { replicaIds: [1, 2], onlyWaiting: true };
  t.deepEqual(decodeCancelReplicas(sent(CancelReplicas, encodeCancelReplicas(cancel))), cancel);
  t.deepEqual(decodeBlobRequest(sent(BlobRequest, encodeBlobRequest([content]))), [content]);
  const sources: readonly ContentOffer['source'][] = [
    { kind: 'inline', bytes: Buffer.from('abc') },
    { kind: 'inline', bytes: Buffer.alloc(0) },
    { kind: 'transfer', transferId: 't1' },
    { kind: 'refused', reason: 'MUT_X' },
  ];
  for (const source of sources)
    t.deepEqual(decodeBlobOffer(sent(BlobOffer, encodeBlobOffer({ content, source }))), {
      content,
      source,
    });
});

test('what this release does not know is refused', (t) => {
  t.throws(() => decodeOutcome(9 as Outcome), { code: 'MUT_BAD_REQUEST', message: /outcome is 9/ });
  t.throws(() => decodeOutcome(0), { code: 'MUT_BAD_REQUEST' });
  t.throws(() => decodeBlobOffer(BlobOffer.decode(Buffer.alloc(0))), { code: 'MUT_BAD_REQUEST' });
  t.throws(() => decodeReport(Report.decode(Buffer.alloc(0))), { code: 'MUT_BAD_REQUEST', message: /sequence is 0/ });
  t.throws(() => decodeStartReplicas(StartReplicasWire.decode(Buffer.alloc(0))), {
    code: 'MUT_BAD_REQUEST',
    message: /template is absent/,
  });
  t.throws(() => decodeMachineFacts(MachineFactsWire.decode(Buffer.alloc(0))), {
    code: 'MUT_BAD_REQUEST',
    message: /machine_id is empty/,
  });
});

test('a report has one end of each replica', (t) => {
  const report = (replicaIds: readonly number[]): Parameters<typeof decodeReport>[0] => ({
    sequence: 1,
    started: [],
    gangMemberReady: [],
    ended: replicaIds.map((replicaId) => ({
      replicaId,
      outcome: 1,
      startedUnixMs: 1,
      endedUnixMs: 2,
      exitStatus: 0,
      reason: '',
      detail: undefined,
      standardOutput: Buffer.alloc(0),
      standardError: Buffer.alloc(0),
      outputTruncated: false,
      outputs: [],
    })),
  });
  t.is(decodeReport(report([7, 8])).ended.length, 2);
  t.throws(() => decodeReport(report([7, 8, 7])), {
    message: 'report.ended has replica 7 twice; expected it once',
  });
});
