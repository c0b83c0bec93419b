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
