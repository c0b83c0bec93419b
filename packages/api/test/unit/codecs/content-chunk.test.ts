import test from 'ava';

import { chunkHeadroom, frameChunk, readChunk } from '@mutirao/api/codecs';
import { ReceiveContentResponse, SendContentRequest } from '@mutirao/api/provider';

test('a chunk framed where it lies is the message that generated code writes and reads', (t) => {
  for (const length of [0, 1, 127, 128, 16_383, 16_384, 300_000]) {
    const buffer = Buffer.alloc(chunkHeadroom + length, 7);
    const framed = frameChunk(buffer, length, 2);
    t.is(framed.buffer, buffer.buffer);
    t.deepEqual(SendContentRequest.decode(framed), { transferId: '', data: Buffer.alloc(length, 7) });
    t.deepEqual(readChunk(framed, 2), Buffer.alloc(length, 7));
  }
  const sent = Buffer.from(ReceiveContentResponse.encode({ data: Buffer.from('hello') }).finish());
  t.is(readChunk(sent, 1)?.toString(), 'hello');
});

test('what is not a chunk alone is left to generated code', (t) => {
  const named = Buffer.from(SendContentRequest.encode({ transferId: 't', data: Buffer.from('x') }).finish());
  for (const message of [
    Buffer.alloc(0),
    named,
    Buffer.from([0x12]),
    Buffer.from([0x12, 5, 1]),
    Buffer.from([0x12, 1, 1, 1]),
    Buffer.alloc(9, 0xff),
  ]) {
    t.is(readChunk(message, 2), undefined);
  }
});
