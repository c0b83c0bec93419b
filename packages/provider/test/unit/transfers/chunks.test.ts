// What an agent pushes, without what its taker has already.
import test from 'ava';
import { chunkHeadroom, frameChunk } from '@mutirao/api/codecs';
import { PullContentResponse, PushContentRequest } from '@mutirao/api/machine';
import { openPush } from '../../../src/transfers/chunks.ts';

const nothing = { transferId: '', machineId: '', content: undefined, data: Buffer.alloc(0), offset: 0 };

function message(parts: Partial<PushContentRequest>): Buffer {
  return Buffer.from(PushContentRequest.encode({ ...nothing, ...parts }).finish());
}

/** As agents frame data. */
function framed(text: string): Buffer {
  const buffer = Buffer.alloc(chunkHeadroom + text.length);
  buffer.write(text, chunkHeadroom);
  return frameChunk(buffer, text.length, 3);
}

async function* stream(...messages: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const one of messages) yield await Promise.resolve(one);
}

/** What a taker gets that has `from` bytes. */
async function taken(from: number, ...messages: readonly Buffer[]): Promise<string> {
  const reported: number[] = [];
  const { first, chunks } = await openPush(stream(message({ transferId: 't1' }), ...messages), (offset) => {
    reported.push(offset);
  });
  chunks.begin(from);
  let text = '';
  for await (const chunk of chunks) text += PullContentResponse.decode(chunk).data.toString();
  return `${first.transferId} told ${reported.join()}: ${text}`;
}

test('an agent that follows the offset sends the rest, and all of it passes', async (t) => {
  t.is(await taken(4, message({ offset: 4 }), framed('efg'), framed('hi')), 't1 told 4: efghi');
  t.is(await taken(4, message({ offset: 4, data: Buffer.from('efg') }), framed('hi')), 't1 told 4: efghi');
  t.is(await taken(0, framed('abc'), framed('def')), 't1 told 0: abcdef');
});

test('of one that sends all, or more than it need, only the rest passes', async (t) => {
  for (const from of [1, 3, 4, 6, 9])
    t.is(await taken(from, framed('abc'), framed('def'), framed('ghi')), `t1 told ${from}: ${'abcdefghi'.slice(from)}`);
  t.is(await taken(5, message({ offset: 2 }), framed('cd'), framed('efg')), 't1 told 5: fg');
});

test('one that leaves out more than it may is refused', async (t) => {
  await t.throwsAsync(taken(3, message({ offset: 4 })), {
    code: 'MUT_PROTOCOL',
    message: /leaves out 4 bytes; expected 3 at most/,
  });
});
