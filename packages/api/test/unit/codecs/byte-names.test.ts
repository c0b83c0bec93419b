import {
  bytesOfName,
  decodeReport,
  decodeStartReplicas,
  encodeReport,
  encodeStartReplicas,
  isByteName,
  nameOfBytes,
} from '@mutirao/api/codecs';
import { Report, StartReplicas } from '@mutirao/api/machine';
import { anEnd } from '@mutirao/testkit';
import test from 'ava';
import fc from 'fast-check';

test('any bytes are a name, and come back from it also when it is joined to others', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.string({ unit: 'grapheme' }), (bytes, text) => {
      const name = nameOfBytes(bytes);
      return (
        bytesOfName(name).equals(Buffer.from(bytes)) &&
        bytesOfName(`${text}/${name}/${text}`).equals(
          Buffer.concat([Buffer.from(`${text}/`), bytes, Buffer.from(`/${text}`)]),
        )
      );
    }),
    { seed: 20_260_101, numRuns: 2000 },
  );
  t.pass();
});

test('a name that is UTF-8 is its own text, and two names that are not are two', (t) => {
  t.is(nameOfBytes(Buffer.from('süß 😀 \ufffd')), 'süß 😀 \ufffd');
  t.false(isByteName('süß 😀 \ufffd'));
  t.not(nameOfBytes(Buffer.from([0xe8])), nameOfBytes(Buffer.from([0xe9])));
});

test('names that are not UTF-8 cross the wire in reports and as inputs', (t) => {
  const name = nameOfBytes(Buffer.from([0x64, 0xe9, 0x2f, 0xff]));
  const content = { sha256: '0'.repeat(64), size: 1 };
  const report = {
    sequence: 1,
    started: [],
    ended: [
      {
        ...anEnd(1, 'succeeded', { startedAt: 1, endedAt: 2 }),
        outputs: [{ outputIndex: 0, path: name, content, mode: 0o644, inline: undefined, transferId: 't' }],
      },
    ],
  };
  t.is(decodeReport(Report.decode(Report.encode(encodeReport(report)).finish())).ended[0]?.outputs[0]?.path, name);
  const batch = {
    template: {
      jobId: 1,
      userId: 'ann',
      command: 'true',
      noOp: false,
      environment: {},
      limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
      processors: 1,
    },
    replicas: [
      {
        replicaId: 1,
        taskIndex: 0,
        value: '',
        inputs: [{ root: 'playpen' as const, path: name, content, mode: 0o644 }],
        outputs: [],
      },
    ],
  };
  t.is(
    decodeStartReplicas(StartReplicas.decode(StartReplicas.encode(encodeStartReplicas(batch)).finish())).replicas[0]
      ?.inputs[0]?.path,
    name,
  );
});
