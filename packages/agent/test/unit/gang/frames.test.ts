import { randomBytes } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { MutiraoError } from '@mutirao/api/errors';
import { runs } from '@mutirao/testkit';
import { commandBytesMax, encodeFrame, FrameReader, frameBytesMax, type Frame } from '../../../src/gang/frames.ts';

const anyBytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const anyStream = fc.constantFrom('standardOutput' as const, 'standardError' as const);
const anyFrame: fc.Arbitrary<Frame> = fc.oneof(
  fc.constantFrom<Frame>({ kind: 'link' }, { kind: 'ready' }, { kind: 'ping' }, { kind: 'inputEnd' }),
  anyBytes.map((command): Frame => ({ kind: 'run', command })),
  anyBytes.map((bytes): Frame => ({ kind: 'input', bytes })),
  fc.record({ kind: fc.constant('output' as const), stream: anyStream, bytes: anyBytes }),
  fc.record({ kind: fc.constant('outputClosed' as const), stream: anyStream }),
  fc.record({ kind: fc.constant('signal' as const), number: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ kind: fc.constant('exit' as const), status: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ kind: fc.constant('inputTaken' as const), bytes: fc.nat() }),
  fc.string({ maxLength: 200 }).map((reason): Frame => ({ kind: 'refused', reason })),
);

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

test('frames come out as they went in, however the bytes between are cut', (t) => {
  fc.assert(
    fc.property(
      fc.array(anyFrame, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
      (frames, sizes) => {
        const reader = new FrameReader();
        const read = cut(Buffer.concat(frames.map(encodeFrame)), sizes).flatMap((piece) => reader.take(piece));
        t.deepEqual(read, frames);
      },
    ),
    runs(20_270_101, 500),
  );
});

test('whatever bytes come, the reader gives frames or reports an error, and keeps no more than a frame', (t) => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 20 }), (chunks) => {
      const reader = new FrameReader();
      try {
        for (const chunk of chunks) for (const frame of reader.take(Buffer.from(chunk))) encodeFrame(frame);
      } catch (error) {
        return error instanceof MutiraoError && error.code === 'MUT_PROTOCOL';
      }
      return true;
    }),
    runs(20_270_102, 1000),
  );
  t.pass();
});

test('a frame that says it is longer than any may be is refused before its bytes come', (t) => {
  const head = encodeFrame({ kind: 'run', command: Buffer.alloc(0) });
  head.writeUInt32BE(commandBytesMax + 1, 1);
  t.throws(() => new FrameReader().take(head), { code: 'MUT_PROTOCOL', message: /131072 bytes/ });
  head.writeUInt32BE(commandBytesMax, 1);
  t.deepEqual(new FrameReader().take(head), []);
});

test('the longest command and the fullest output are frames', (t) => {
  const command = randomBytes(commandBytesMax);
  const bytes = randomBytes(frameBytesMax);
  const frames: Frame[] = [
    { kind: 'run', command },
    { kind: 'output', stream: 'standardError', bytes },
  ];
  t.deepEqual(new FrameReader().take(Buffer.concat(frames.map(encodeFrame))), frames);
});
