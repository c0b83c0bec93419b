// Whatever bytes a peer sends, decoding ends in a message or an error, never in anything else: no crash, no hang, no
// wrong type.
import {
  decodeBlobOffer,
  decodeBlobRequest,
  decodeMachineFacts,
  decodeReport,
  decodeStartReplicas,
} from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { AttachRequest, AttachResponse, Report } from '@mutirao/api/machine';
import test from 'ava';
import fc from 'fast-check';
import { runs } from '@mutirao/testkit';

/** Runs every codec of a machine's stream over what the bytes say. */
function decodeAll(bytes: Uint8Array): void {
  decodeFromMachine(AttachRequest.decode(bytes));
  decodeToMachine(AttachResponse.decode(bytes));
}

function decodeFromMachine({ message }: AttachRequest): void {
  if (message?.$case === 'hello') decodeMachineFacts(message.value.facts);
  if (message?.$case === 'report') decodeReport(message.value);
  if (message?.$case === 'blobRequest') decodeBlobRequest(message.value);
}

function decodeToMachine({ message }: AttachResponse): void {
  if (message?.$case === 'start') decodeStartReplicas(message.value);
  if (message?.$case === 'content') decodeBlobOffer(message.value);
}

/** Whether the bytes give a message or an error that a server reports to its peer. */
function endsWell(bytes: Uint8Array): boolean {
  try {
    decodeAll(bytes);
    return true;
  } catch (error) {
    // A wrong type or a stack overflow would be our bug, not the peer's.
    return (
      error instanceof MutiraoError ||
      (error instanceof Error && error.constructor === Error) ||
      error instanceof RangeError
    );
  }
}

const report = Report.encode({
  sequence: 3,
  started: [{ replicaId: 1, startedUnixMs: 1_785_000_000_000 }],
  ended: [
    {
      replicaId: 2,
      outcome: 1,
      exitStatus: 0,
      startedUnixMs: 1_785_000_000_000,
      endedUnixMs: 1_785_000_000_001,
      reason: '',
      detail: { code: '', parameters: {}, text: 'über' },
      outputTruncated: false,
      standardOutput: Buffer.from('out'),
      standardError: Buffer.alloc(0),
      outputs: [
        {
          outputIndex: 0,
          path: 'a',
          content: { sha256: Buffer.alloc(32), sizeBytes: 5 },
          mode: 0o644,
          inline: Buffer.from('hello'),
          transferId: '',
          droppedName: '',
        },
      ],
    },
  ],
  gangMemberReady: [{ replicaId: 4, name: 'ana@one', addresses: ['one:4000'] }],
}).finish();
const whole = Buffer.concat([Buffer.from([0x12, report.length]), report]);

test('random bytes end in a message or an error', (t) => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), endsWell), runs(7, 5000));
  t.pass();
});

test('a real message with bytes changed or cut off ends in a message or an error', (t) => {
  const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 4 }), fc.nat(whole.length), (changes, length) => {
      const bytes = Buffer.from(whole.subarray(0, length));
      for (const [index, value] of changes) if (index < length) bytes[index] = value;
      return endsWell(bytes);
    }),
    runs(7, 5000),
  );
  t.is(AttachRequest.decode(whole).message?.$case, 'report');
});

test('a number beyond what JavaScript counts exactly is refused', (t) => {
  t.throws(() => Report.decode(Buffer.from([0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01])), {
    message: /larger than/,
  });
  t.is(
    Report.decode(
      Report.encode({ sequence: Number.MAX_SAFE_INTEGER, started: [], ended: [], gangMemberReady: [] }).finish(),
    ).sequence,
    Number.MAX_SAFE_INTEGER,
  );
});

test('an empty field of bytes is empty, and a full one is the bytes that came', (t) => {
  const decoded = Report.decode(report).ended[0];
  t.is(decoded?.standardError.length, 0);
  t.is(decoded?.standardOutput.toString(), 'out');
  t.is(decoded?.outputs[0]?.inline?.toString(), 'hello');
});
