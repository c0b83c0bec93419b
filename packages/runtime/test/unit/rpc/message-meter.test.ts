import test from 'ava';
import fc from 'fast-check';
import { MessageMeter } from '../../../src/rpc/admission/message-meter.ts';

function findMessage(bytes: number): Buffer {
  const message = Buffer.alloc(5 + bytes);
  message.writeUInt32BE(bytes, 1);
  return message;
}

test('messages are followed however their bytes are cut, and the first that is too large is refused by its prefix', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }),
      (sizes, cuts) => {
        const bytesMax = 200;
        const bytes = Buffer.concat(sizes.map(findMessage));
        const meter = new MessageMeter(bytesMax);
        const tooLarge = sizes.findIndex((size) => size > bytesMax);
        const refusedAt = tooLarge < 0 ? Infinity : sizes.slice(0, tooLarge).reduce((sum, size) => sum + size + 5, 5);
        let at = 0;
        for (let index = 0; at < bytes.length; index += 1) {
          const chunk = bytes.subarray(at, at + (cuts[index % cuts.length] ?? 1));
          at += chunk.length;
          try {
            meter.take(chunk);
          } catch {
            return at >= refusedAt && at - chunk.length < refusedAt;
          }
          if (at >= refusedAt) return false;
        }
        return tooLarge < 0;
      },
    ),
    { numRuns: 500, seed: 7 },
  );
  t.pass();
});

test('a compressed message is refused, since its size when unpacked is unknown', (t) => {
  t.throws(
    () => {
      new MessageMeter(100).take(Buffer.from([1, 0, 0, 0, 1, 0]));
    },
    { code: 'MUT_BAD_REQUEST', message: /compressed/ },
  );
});
