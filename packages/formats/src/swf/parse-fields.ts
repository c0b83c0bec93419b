const zero = 0x30;
const nine = 0x39;
const minus = 0x2d;
const point = 0x2e;

/**
 * Reads numbers that blanks separate from bytes[from, end) into `fields`, as many as it holds.
 *
 * Returns the number of fields, including those beyond `fields`, which need not be numbers; -1 when one within is not a
 * number. Written for speed: plain numbers are read digit by digit, everything else by way of a string.
 */
export function parseFields(bytes: Uint8Array, from: number, end: number, fields: Float64Array): number {
  let count = 0;
  for (let at = from; at < end; at += 1) {
    if (isBlank(bytes[at] as number)) continue;
    const last = endOfWord(bytes, at, end);
    if (count < fields.length) {
      const value = parseNumber(bytes, at, last);
      if (Number.isNaN(value)) return -1;
      fields[count] = value;
    }
    count += 1;
    at = last;
  }
  return count;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

function endOfWord(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && !isBlank(bytes[at] as number)) at += 1;
  return at;
}

function parseNumber(bytes: Uint8Array, from: number, end: number): number {
  const first = bytes[from] === minus ? from + 1 : from;
  if (first === end || end - first > digitsMax) return parseUnusual(bytes, from, end);
  let value = 0;
  for (let at = first; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte < zero || byte > nine)
      return byte === point ? parseFraction(bytes, from, end) : parseUnusual(bytes, from, end);
    value = value * 10 + (byte - zero);
  }
  return first === from ? value : -value;
}

/** Reads digits, a point and digits, since some logs have one such field in each line. */
function parseFraction(bytes: Uint8Array, from: number, end: number): number {
  const first = bytes[from] === minus ? from + 1 : from;
  const dot = bytes.indexOf(point, first);
  if (dot === first || dot + 1 === end) return parseUnusual(bytes, from, end);
  let value = 0;
  let scale = 1;
  for (let at = first; at < end; at += 1) {
    if (at === dot) continue;
    const digit = (bytes[at] as number) - zero;
    if (digit < 0 || digit > 9) return parseUnusual(bytes, from, end);
    value = value * 10 + digit;
    if (at > dot) scale *= 10;
  }
  return (first === from ? value : -value) / scale;
}

/** Numbers of up to this many digits are exact in a double. */
const digitsMax = 15;

function parseUnusual(bytes: Uint8Array, from: number, end: number): number {
  const text = new TextDecoder().decode(bytes.subarray(from, end));
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : NaN;
}
