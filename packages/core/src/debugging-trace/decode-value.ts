import { fromBase64 } from './base64.ts';
import { tag } from './encode-value.ts';

type Tagged = Readonly<Record<string, unknown>>;

/**
 * Makes the value that `encodeValue` wrote of what JSON.parse read. @throws {SyntaxError} for what `encodeValue` does
 * not write.
 */
export function decodeValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(decodeValue);
  if (Object.hasOwn(value, tag)) return reviveTagged(value as Tagged);
  // Object.fromEntries defines properties, so that one named __proto__ stays one.
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, decodeValue(part)]));
}

function reviveTagged(tagged: Tagged): unknown {
  switch (tagged[tag]) {
    case 'undefined':
      return undefined;
    case 'number':
      return reviveNumber(tagged['text']);
    case 'bytes':
      return reviveBytes(tagged['base64']);
    case 'map':
      return new Map(revivePairs(tagged['entries']));
    case 'set':
      return new Set(reviveList(tagged['values']));
    case 'object':
      return Object.fromEntries(revivePairs(tagged['entries']));
    default:
      throw new SyntaxError(`trace: unknown kind ${JSON.stringify(tagged[tag])}`);
  }
}

function reviveNumber(text: unknown): number {
  if (text === 'NaN' || text === 'Infinity' || text === '-Infinity' || text === '-0') return Number(text);
  throw new SyntaxError(`trace: number ${JSON.stringify(text)}`);
}

function reviveBytes(text: unknown): Uint8Array {
  const bytes = typeof text === 'string' ? fromBase64(text) : undefined;
  if (bytes === undefined) throw new SyntaxError('trace: not base64');
  return bytes;
}

function reviveList(values: unknown): unknown[] {
  if (!Array.isArray(values)) throw new SyntaxError('trace: not a list');
  return values.map(decodeValue);
}

function revivePairs(entries: unknown): [string, unknown][] {
  return reviveList(entries).map((pair) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw new SyntaxError('trace: not a pair');
    return pair as [string, unknown];
  });
}
