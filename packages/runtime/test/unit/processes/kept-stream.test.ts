import test from 'ava';
import fc from 'fast-check';
import { KeptStream } from '../../../src/processes/kept-stream.ts';

const cutLine = /\n?\[mutirao: (\d+) of (\d+) bytes were cut here\]\n/;

function keep(bytesMax: number, chunks: readonly string[]): { readonly stream: KeptStream; readonly text: string } {
  const stream = new KeptStream(bytesMax);
  for (const chunk of chunks) stream.add(Buffer.from(chunk));
  return { stream, text: Buffer.from(stream.bytes()).toString('latin1') };
}

test('a stream within the bound is kept as it is', (t) => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 30 })), fc.nat(20), (chunks, spare) => {
      const whole = chunks.join('');
      const { stream, text } = keep(whole.length + spare, chunks);
      t.is(text, whole);
      t.false(stream.isCut);
    }),
    { seed: 1 },
  );
});

test('of a stream beyond the bound head and tail are kept, and what is missing is counted', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 30 }), { minLength: 1 }),
      fc.integer({ min: 1, max: 40 }),
      (chunks, bytesMax) => {
        const whole = chunks.join('');
        fc.pre(whole.length > bytesMax);
        const { stream, text } = keep(bytesMax, chunks);
        const [line = '', cut, written] = cutLine.exec(text) ?? [];
        const at = text.indexOf(line);
        const [head, tail] = [text.slice(0, at), text.slice(at + line.length)];
        t.true(stream.isCut);
        t.true(head.length + tail.length <= bytesMax);
        // If the head ends with a line feed, the one before the line that reports the cut is the stream's own.
        const isOwn =
          line.startsWith('\n') &&
          whole.startsWith(`${head}\n`) &&
          Number(cut) === whole.length - head.length - 1 - tail.length;
        t.true(whole.startsWith(head) && whole.endsWith(tail));
        t.true(isOwn || Number(cut) === whole.length - head.length - tail.length);
        t.is(Number(written), whole.length);
      },
    ),
    { seed: 2 },
  );
});

test('a cut falls between lines, and memory stays within the bound', (t) => {
  const stream = new KeptStream(1000);
  const chunk = Buffer.from('a line of the program\n'.repeat(1000));
  for (let round = 0; round < 100; round++) stream.add(chunk);
  const lines = Buffer.from(stream.bytes()).toString().split('\n');
  t.deepEqual(
    [...new Set(lines)].filter((line) => !line.startsWith('[mutirao: ')),
    ['a line of the program', ''],
  );
  t.true(stream.bytes().length < 1100);
  t.is(stream.writtenBytes, 100 * chunk.length);
});

test('a reader gets the bytes of the stream in their order, and what is kept at the end is as without a reader', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 30 }), fc.nat(40)), {
        minLength: 1,
      }),
      fc.integer({ min: 0, max: 40 }),
      (steps, bytesMax) => {
        const [read, unread] = [new KeptStream(bytesMax), new KeptStream(bytesMax)];
        let [whole, offset] = ['', 0];
        for (const [chunk, asked] of steps) {
          for (const stream of [read, unread]) stream.add(Buffer.from(chunk));
          whole += chunk;
          if (asked === 0) continue;
          const part = read.read(offset, asked);
          t.true(part.offset >= offset && part.bytes.length <= asked);
          const text = Buffer.from(part.bytes).toString('latin1');
          t.is(text, whole.slice(part.offset, part.offset + text.length));
          t.true(text !== '' || part.offset === whole.length, 'something comes while something is kept');
          offset = part.offset + text.length;
        }
        t.deepEqual(read.bytes(), unread.bytes());
      },
    ),
    { seed: 4 },
  );
});

test('a reader of a long stream finds more of it than its tail', (t) => {
  const stream = new KeptStream(1000);
  stream.add(Buffer.alloc(600));
  t.is(stream.read(500, 1000).offset, 500);
  stream.add(Buffer.alloc(100_000));
  t.is(stream.read(600, 1000).offset, 600);
});
