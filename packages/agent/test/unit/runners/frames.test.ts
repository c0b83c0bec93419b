import test from 'ava';
import fc from 'fast-check';
import { runs } from '@mutirao/testkit';
import { encodeCall, FrameReader } from '../../../src/runners/frames.ts';

/** A frame of a runner: its kind and its fields. */
function frame(kind: string, ...fields: readonly string[]): Buffer {
  const parts = fields.flatMap((field) => [sizeOf(Buffer.byteLength(field)), Buffer.from(field)]);
  const body = Buffer.concat([Buffer.from(kind), ...parts]);
  return Buffer.concat([sizeOf(body.length), body]);
}

function sizeOf(size: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(size);
  return bytes;
}

test('a call is its number, folder, value and variables, each with its length', (t) => {
  t.deepEqual(
    encodeCall({ number: 12, folder: '/play/12', value: 'é', variables: { TASK: '3' } }),
    frame('C', '12', '/play/12', 'é', 'TASK=3'),
  );
});

test('frames are read however they are cut into pieces', (t) => {
  const all = Buffer.concat([
    frame('R', '1', 'Python'),
    frame('B', '1'),
    frame('E', '1', '0', '17'),
    frame('E', '2', '137', ''),
  ]);
  fc.assert(
    fc.property(fc.array(fc.nat({ max: all.length })), (cuts) => {
      const reader = new FrameReader();
      const places = [0, ...cuts.sort((one, other) => one - other), all.length];
      const frames = places.slice(1).flatMap((end, index) => reader.read(all.subarray(places[index], end)));
      t.deepEqual(frames, [
        { kind: 'ready', protocolVersion: 1 },
        { kind: 'begun', number: 1 },
        { kind: 'ended', number: 1, exitStatus: 0, processorMs: 17 },
        { kind: 'ended', number: 2, exitStatus: 137, processorMs: undefined },
      ]);
    }),
    runs(20_261_129, 200),
  );
});

for (const [what, bytes, message] of [
  ['an empty frame', sizeOf(0), /a frame of 0 bytes; expected 1 to 65536/],
  ['text', Buffer.from('Traceback'), /a frame of 1416782179 bytes/],
  ['an unknown kind', frame('X'), /unknown kind "X"; expected R, B or E/],
  ['a field beyond its frame', Buffer.concat([sizeOf(5), Buffer.from('R'), sizeOf(9)]), /cut short/],
  ['a length that is cut', Buffer.concat([sizeOf(3), Buffer.from('R\0\0')]), /cut short/],
  ['no exit status', frame('E', '1'), /exit status ""; expected a whole number/],
  ['a negative status', frame('E', '1', '-9'), /exit status "-9"; expected a whole number/],
  ['a status that no process has', frame('E', '1', '256'), /exit status 256; expected 0 to 255/],
] as const)
  test(`a runner that sends ${what} is refused`, (t) => {
    t.throws(() => new FrameReader().read(bytes), { message });
  });
