import type { Prng } from './prng.ts';

const interesting = [0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0xffffffff];
const words = [
  '\0',
  '\n',
  '..',
  '/',
  '../',
  '$PROC',
  '$',
  '{}',
  '__proto__',
  '\u202e',
  '\u001b[2J',
  '"',
  "'",
  '-1',
  '9'.repeat(25),
  '1e309',
  'NaN',
  '&&',
  '(',
  ')',
  '<',
  '>',
  ':',
  'Ã',
  '\uFFFF',
].map((word) => Buffer.from(word));

/** An input that differs from others in a few places. */
export function mutate(random: Prng, corpus: readonly Buffer[]): Buffer {
  // The first ones are whole, and what is made from them is likelier to be read.
  let bytes: Buffer = random.pick(random.below(3) === 0 ? corpus.slice(0, 4) : corpus) ?? Buffer.alloc(0);
  for (let count = 1 + random.below(4); count > 0; count -= 1) bytes = change(random, bytes, corpus);
  return bytes.length <= bytesMax ? bytes : bytes.subarray(0, bytesMax);
}

const bytesMax = 65_536;

function change(random: Prng, bytes: Buffer, corpus: readonly Buffer[]): Buffer {
  const at = random.below(bytes.length + 1);
  const length = random.below(Math.min(32, bytes.length - at + 1));
  const [before, part, after] = [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at + length)];
  switch (random.below(11)) {
    case 0:
      return Buffer.concat([before, Buffer.from([random.below(256)]), bytes.subarray(at + 1)]);
    case 1:
      return Buffer.concat([before, after]);
    case 2:
      return Buffer.concat([before, part, part, after]);
    case 3:
      return Buffer.concat([
        before,
        Buffer.from(Array.from({ length: 1 + random.below(8) }, () => random.below(256))),
        bytes.subarray(at),
      ]);
    case 4:
      return Buffer.concat([before, random.pick(words) ?? before, after]);
    case 5:
      return Buffer.concat([before, numberBytes(random.pick(interesting) ?? 0, random.below(3)), after]);
    case 6:
      return spliced(random, before, corpus);
    case 8:
    case 9:
      return renumbered(random, bytes);
    case 7:
      return Buffer.concat([before, ...Array<Buffer>(2 ** random.below(9)).fill(part), after]);
    default:
      return flipped(random, bytes);
  }
}

function numberBytes(value: number, form: number): Buffer {
  if (form === 0) return Buffer.from(String(value));
  const bytes = Buffer.alloc(form === 1 ? 4 : 8);
  if (form === 1) bytes.writeUInt32BE(value);
  else bytes.writeDoubleLE(value);
  return bytes;
}

/** Another number in the place of one that is written in digits. */
function renumbered(random: Prng, bytes: Buffer): Buffer {
  const places = [...bytes.toString('latin1').matchAll(/-?\d+(\.\d+)?/g)];
  const place = random.pick(places);
  if (place === undefined) return bytes;
  const number =
    random.pick([
      '',
      '00',
      '-1',
      '0.5',
      '1e9',
      '999999999',
      '9007199254740993',
      '9'.repeat(25),
      String(random.below(1000)),
      `0${place[0]}`,
      `${place[0]}-${place[0]}`,
    ]) ?? '';
  return Buffer.concat([
    bytes.subarray(0, place.index),
    Buffer.from(number),
    bytes.subarray(place.index + place[0].length),
  ]);
}

/** The beginning of one input and the end of another. */
function spliced(random: Prng, before: Buffer, corpus: readonly Buffer[]): Buffer {
  const other = random.pick(corpus) ?? before;
  return Buffer.concat([before, other.subarray(random.below(other.length + 1))]);
}

function flipped(random: Prng, bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  const copy = Buffer.from(bytes);
  const at = random.below(bytes.length);
  copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
  return copy;
}
