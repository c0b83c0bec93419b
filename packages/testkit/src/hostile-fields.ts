import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { protoFiles, protoFolder } from '@mutirao/api/descriptors';

/** A field of a message, as its .proto file has it. */
interface Field {
  readonly name: string;
  readonly number: number;
  /** A scalar's name, or that of a message or enum without its package; `map` for a map of texts. */
  readonly type: string;
  readonly isRepeated: boolean;
}

/** One message that says what its field may not. */
export interface HostileMessage {
  /** The way to the field, and what is said there. */
  readonly what: string;
  readonly bytes: Buffer;
}

interface WireField {
  readonly number: number;
  /** With its tag. */
  readonly bytes: Buffer;
  /** Of a field that has a length: what is in it. */
  readonly inner: Buffer;
}

let known: ReadonlyMap<string, readonly Field[]> | undefined;

/** The fields of all published messages, by the message's name without its package. */
function published(): ReadonlyMap<string, readonly Field[]> {
  if (known !== undefined) return known;
  const messages = new Map<string, readonly Field[]>();
  for (const file of protoFiles()) {
    const text = readFileSync(join(protoFolder, file), 'utf8').replaceAll(/\/\/.*$/gm, '');
    for (const [, name = '', body = ''] of text.matchAll(/^message (\w+) \{((?:[^{}]|\{[^{}]*\})*)\}/gm)) {
      const fields = [...body.matchAll(/(repeated |optional )?(map<[^>]+>|[\w.]+) (\w+) = (\d+);/g)];
      messages.set(name, fields.map(([, label = '', type = '', field = '', number = '']) => ({
        name: field, number: Number(number), type: type.startsWith('map') ? 'map' : type.split('.').at(-1) ?? '', isRepeated: label.startsWith('repeated'),
      })));
    }
  }
  return known = messages;
}

/** Each way in which one field of a message can be out of range, too long, of another type, there twice or absent: for all fields that its .proto file has, also those of messages in it. */
export function* hostileMessages(type: string, bytes: Buffer, path = type): Generator<HostileMessage> {
  const present = parse(bytes);
  for (const field of published().get(type) ?? []) {
    const own = present.find(({ number }) => number === field.number);
    const rest = Buffer.concat(present.filter(({ number }) => number !== field.number).map((one) => one.bytes));
    const way = `${path}.${field.name}`;
    if (own !== undefined) yield* [{ what: `${way} is absent`, bytes: rest }, { what: `${way} is there twice`, bytes: Buffer.concat([bytes, own.bytes]) }];
    for (const [what, value] of valuesOf(field)) yield { what: `${way} is ${what}`, bytes: Buffer.concat([rest, value]) };
    if (!published().has(field.type)) continue;
    for (const inner of hostileMessages(field.type, own?.inner ?? Buffer.alloc(0), way)) yield { what: inner.what, bytes: Buffer.concat([rest, delimited(field.number, inner.bytes)]) };
  }
}

/** What a field may be said to be. Each is tried for every type: a peer may take a field for another one. */
function valuesOf({ number }: Field): [string, Buffer][] {
  const values: [string, Buffer][] = [];
  for (const value of [0n, 1n, 77n, 2n ** 32n - 1n, 2n ** 40n, 2n ** 53n - 1n, 2n ** 63n, 2n ** 64n - 1n]) values.push([String(value), Buffer.concat([varint(BigInt(number) * 8n), varint(value)])]);
  for (const value of [NaN, Infinity, -1, 1e308]) {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    values.push([String(value), Buffer.concat([varint(BigInt(number) * 8n + 1n), bytes])]);
  }
  const texts = ['', 'x', '..', '../../x', 'a\0b', '\u001b[2J', 'x'.repeat(9000)];
  for (const text of texts) values.push([JSON.stringify(text.slice(0, 20)), delimited(number, Buffer.from(text))]);
  values.push(['no UTF-8', delimited(number, Buffer.from([0xff, 0xfe]))], ['32 bytes', delimited(number, Buffer.alloc(32, 1))]);
  return values;
}

function delimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(BigInt(number) * 8n + 2n), varint(BigInt(bytes.length)), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

/** The fields of a message that is whole. */
function parse(bytes: Buffer): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const read = (): number => {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
  };
  while (at < bytes.length) {
    const start = at;
    const tag = read();
    let inner: Buffer = Buffer.alloc(0);
    if (tag % 8 === 0) read();
    else if (tag % 8 === 1) at += 8;
    else if (tag % 8 === 5) at += 4;
    else {
      const length = read();
      inner = bytes.subarray(at, at += length);
    }
    fields.push({ number: Math.floor(tag / 8), bytes: bytes.subarray(start, at), inner });
  }
  return fields;
}
