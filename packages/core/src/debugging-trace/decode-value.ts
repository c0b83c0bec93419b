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
      throw new SyntaxError(`unknown kind of value ${JSON.stringify(tagged[tag])}`);
  }
}

function reviveNumber(text: unknown): number {
  if (text === 'NaN' || text === 'Infinity' || text === '-Infinity' || text === '-0') return Number(text);
  throw new SyntaxError('a number without digits that there is not');
}

function reviveBytes(text: unknown): Uint8Array {
  const bytes = typeof text === 'string' ? fromBase64(text) : undefined;
  if (bytes === undefined) throw new SyntaxError('bytes that are not in base64');
  return bytes;
}

function reviveList(values: unknown): unknown[] {
  if (!Array.isArray(values)) throw new SyntaxError('a list that is none');
  return values.map(decodeValue);
}

function revivePairs(entries: unknown): [string, unknown][] {
  return reviveList(entries).map((pair) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw new SyntaxError('an entry that is no pair');
    return pair as [string, unknown];
  });
}
