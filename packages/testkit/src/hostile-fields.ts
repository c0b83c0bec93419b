import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { protoFiles, protoFolder } from '@mutirao/api/descriptors';

/** A field of a message, as its .proto file has it. */
interface Field {
  readonly name: string;
  readonly number: number;
  /** A scalar, `map` for a map of texts, or the full name of a message or an enumeration. */
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

/**
 * What the .proto files publish: fields by the full name of their message, and the requests and responses of methods by
 * path.
 */
interface Published {
  readonly messages: ReadonlyMap<string, readonly Field[]>;
  readonly methods: ReadonlyMap<string, { readonly request: string; readonly response: string }>;
}

let known: Published | undefined;

function published(): Published {
  if (known !== undefined) return known;
  const messages = new Map<string, readonly Field[]>();
  const methods = new Map<string, { request: string; response: string }>();
  for (const file of protoFiles()) {
    const text = readFileSync(join(protoFolder, file), 'utf8').replaceAll(/\/\/.*$/gm, '');
    const inside = /^package ([\w.]+);/m.exec(text)?.[1] ?? '';
    for (const [name, fields] of readMessages(text, inside)) messages.set(name, fields);
    for (const [path, types] of readMethods(text, inside)) methods.set(path, types);
  }
  return (known = { messages, methods });
}

function* readMessages(text: string, inside: string): Generator<[string, Field[]]> {
  for (const [, name = '', body = ''] of text.matchAll(/^message (\w+) \{((?:[^{}]|\{[^{}]*\})*)\}/gm)) {
    const fields = [...body.matchAll(/(repeated |optional )?(map<[^>]+>|[\w.]+) (\w+) = (\d+)/g)];
    yield [
      fullName(name, inside),
      fields.map(([, label = '', type = '', field = '', number = '']) => ({
        name: field,
        number: Number(number),
        type: type.startsWith('map') ? 'map' : fullName(type, inside),
        isRepeated: label.startsWith('repeated'),
      })),
    ];
  }
}

function* readMethods(text: string, inside: string): Generator<[string, { request: string; response: string }]> {
  for (const [, service = '', body = ''] of text.matchAll(/^service (\w+) \{([^}]*)\}/gm)) {
    for (const [, rpc = '', request = '', response = ''] of body.matchAll(
      /rpc (\w+)\((?:stream )?([\w.]+)\) returns \((?:stream )?([\w.]+)\)/g,
    )) {
      yield [
        `/${inside}.${service}/${rpc}`,
        { request: fullName(request, inside), response: fullName(response, inside) },
      ];
    }
  }
}

const scalars = /^(bool|bytes|double|string|u?int(32|64))$/;

function fullName(type: string, inside: string): string {
  return type.includes('.') || scalars.test(type) ? type : `${inside}.${type}`;
}

/**
 * Messages of a type with plausible values: one with all its fields, and one for each field alone that is a message,
 * since only one of several alternatives counts.
 */
export function plausibleMessages(type: string, depth = 4): Buffer[] {
  const fields = published().messages.get(type) ?? [];
  const encoded = fields.map((field) => plausibleField(field, depth));
  const alone = encoded.filter(
    (bytes, index) => bytes.length > 0 && published().messages.has(fields[index]?.type ?? ''),
  );
  return [Buffer.concat(encoded), ...alone];
}

function plausibleField({ number, type }: Field, depth: number): Buffer {
  if (published().messages.has(type))
    return depth === 0 ? Buffer.alloc(0) : delimited(number, plausibleMessages(type, depth - 1)[0] ?? Buffer.alloc(0));
  switch (type) {
    case 'string':
      return delimited(number, Buffer.from('name-1'));
    case 'bytes':
      return delimited(number, Buffer.alloc(32, 7));
    case 'map':
      return delimited(number, Buffer.concat([delimited(1, Buffer.from('os')), delimited(2, Buffer.from('linux'))]));
    case 'double':
      return listFractions(number)[3]?.[1] ?? Buffer.alloc(0);
    default:
      return Buffer.concat([varint(BigInt(number) * 8n), varint(1n)]);
  }
}

/** The full names of the messages of a method. @param path as a generated definition has it. */
export function messagesOfMethod(path: string): { readonly request: string; readonly response: string } {
  const found = published().methods.get(path);
  if (found === undefined) throw new Error(`no .proto file has the method ${path}`);
  return found;
}

/**
 * Each way in which one field of a message can be out of range, too long, too often there, of another type, there twice
 * or absent: for all fields that its
 * .proto file has, also those of messages in it.
 *
 * @param type the full name of the message: `mutirao.machine.v1.Report`.
 */
export function* hostileMessages(
  type: string,
  bytes: Buffer,
  path = type.split('.').at(-1) ?? type,
): Generator<HostileMessage> {
  const present = parse(bytes);
  const fields = published().messages.get(type);
  if (fields === undefined) throw new Error(`no .proto file has the message ${type}`);
  for (const field of fields) {
    const own = present.find(({ number }) => number === field.number);
    const rest = Buffer.concat(present.filter(({ number }) => number !== field.number).map((one) => one.bytes));
    yield* hostileFields(field, { own, rest, bytes }, `${path}.${field.name}`);
  }
}

interface Around {
  /** The field as it is. */
  readonly own: WireField | undefined;
  /** The message without it, and with it. */
  readonly rest: Buffer;
  readonly bytes: Buffer;
}

function* hostileFields(field: Field, { own, rest, bytes }: Around, way: string): Generator<HostileMessage> {
  if (own !== undefined)
    yield* [
      { what: `${way} is absent`, bytes: rest },
      { what: `${way} is there twice`, bytes: Buffer.concat([bytes, own.bytes]) },
    ];
  for (const [what, value] of getValues(field))
    yield { what: `${way} is ${what}`, bytes: Buffer.concat([rest, value]) };
  if (field.isRepeated)
    yield {
      what: `${way} is there ${manyTimes} times`,
      bytes: Buffer.concat([
        rest,
        ...Array<Buffer>(manyTimes).fill(own?.bytes ?? delimited(field.number, Buffer.alloc(0))),
      ]),
    };
  if (!published().messages.has(field.type)) return;
  for (const inner of hostileMessages(field.type, own?.inner ?? Buffer.alloc(0), way))
    yield { what: inner.what, bytes: Buffer.concat([rest, delimited(field.number, inner.bytes)]) };
}

/** More than lists of words may have, and few enough to be tried at every list. */
const manyTimes = 2000;

/**
 * What a field may be said to be: all that its type could bear, and one value of each other kind, since a peer may take
 * a field for another one.
 */
function getValues(field: Field): [string, Buffer][] {
  const [numbers, fractions, texts] = [listNumbers(field.number), listFractions(field.number), listTexts(field.number)];
  switch (field.type) {
    case 'string':
    case 'bytes':
      return [...texts, ...numbers.slice(1, 2), ...fractions.slice(0, 1)];
    case 'map':
      return [...listEntries(field.number), ...texts.slice(0, 4), ...numbers.slice(1, 2)];
    case 'double':
      return [...fractions, ...numbers.slice(0, 3), ...texts.slice(0, 2)];
    default:
      return published().messages.has(field.type)
        ? [...texts.slice(0, 4), ...numbers.slice(1, 2), ...fractions.slice(0, 1)]
        : [...numbers, ...fractions.slice(0, 1), ...texts.slice(0, 2)];
  }
}

function listNumbers(number: number): [string, Buffer][] {
  return [0n, 1n, 77n, 2n ** 32n - 1n, 2n ** 40n, 2n ** 53n - 1n, 2n ** 63n, 2n ** 64n - 1n].map((value) => [
    String(value),
    Buffer.concat([varint(BigInt(number) * 8n), varint(value)]),
  ]);
}

function listFractions(number: number): [string, Buffer][] {
  return [NaN, Infinity, -1, 0.5, 1e308].map((value) => {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return [String(value), Buffer.concat([varint(BigInt(number) * 8n + 1n), bytes])];
  });
}

function listTexts(number: number): [string, Buffer][] {
  const texts = [
    '',
    'x',
    '..',
    '../../x',
    '/etc/passwd',
    '__proto__',
    'a\0b',
    '\u001b[2J',
    'x'.repeat(9000),
    'x'.repeat(70_000),
  ];
  const values = texts.map((text): [string, Buffer] => [
    JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}... (${text.length})` : text),
    delimited(number, Buffer.from(text)),
  ]);
  return [
    ...values,
    ['no UTF-8', delimited(number, Buffer.from([0xff, 0xfe]))],
    ['32 bytes', delimited(number, Buffer.alloc(32, 1))],
  ];
}

/** What a map of texts may be said to hold. */
function listEntries(number: number): [string, Buffer][] {
  const entry = (key: string, value: string): Buffer =>
    delimited(number, Buffer.concat([delimited(1, Buffer.from(key)), delimited(2, Buffer.from(value))]));
  return [
    ['an entry "__proto__"', entry('__proto__', 'x')],
    ['an entry "constructor"', entry('constructor', 'x')],
    ['an entry with a long name', entry('n'.repeat(9000), 'x')],
    ['an entry with a long value', entry('n', 'v'.repeat(200_000))],
    ['an entry with a path', entry('n', '../../x')],
    ['an entry with control characters', entry('n\0', '\u001b[2J')],
    [`${manyTimes} entries`, Buffer.concat(Array.from({ length: manyTimes }, (_, index) => entry(`n${index}`, 'x')))],
  ];
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
      inner = bytes.subarray(at, (at += length));
    }
    fields.push({ number: Math.floor(tag / 8), bytes: bytes.subarray(start, at), inner });
  }
  return fields;
}
