import { toBase64 } from './base64.ts';

/** The property that says what kind of value an object of JSON stands for. */
export const tag = '$';

/** Secrets are written as this. No machine decides by them, and a trace is made to be handed on. */
export const withheld = '(withheld)';
const secretName = 'MUTIRAO_CREDENTIAL';

/**
 * Writes a value as JSON on one line, such that JSON.parse and `decodeValue` give it back: plain objects and arrays,
 * and what JSON lacks as
 * an object with the property `$` (bytes, maps, sets, undefined, numbers without digits).
 *
 * A property named MUTIRAO_CREDENTIAL is withheld. @throws {TypeError} for a function, a symbol or a bigint.
 */
export function encodeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return encodeNumber(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'undefined':
      return '{"$":"undefined"}';
    case 'object':
      return value === null ? 'null' : encodeObject(value);
    default:
      throw new TypeError(`trace: cannot hold ${typeof value}`);
  }
}

function encodeNumber(value: number): string {
  return Number.isFinite(value) && !Object.is(value, -0)
    ? String(value)
    : `{"$":"number","text":"${Object.is(value, -0) ? '-0' : String(value)}"}`;
}

function encodeObject(value: object): string {
  if (Array.isArray(value)) return encodeArray(value);
  if (value instanceof Uint8Array) return `{"$":"bytes","base64":"${toBase64(value)}"}`;
  if (value instanceof Map) return `{"$":"map","entries":${encodeArray([...value])}}`;
  if (value instanceof Set) return `{"$":"set","values":${encodeArray([...value])}}`;
  if (Object.hasOwn(value, tag)) return `{"$":"object","entries":${encodeArray(Object.entries(value).map(withhold))}}`;
  return encodePlain(value as Readonly<Record<string, unknown>>);
}

function encodeArray(values: readonly unknown[]): string {
  let text = '[';
  for (let index = 0; index < values.length; index++) text += (index === 0 ? '' : ',') + encodeValue(values[index]);
  return `${text}]`;
}

function encodePlain(value: Readonly<Record<string, unknown>>): string {
  let text = '{';
  for (const name of Object.keys(value)) {
    const part = name === secretName ? withheld : value[name];
    text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${encodeValue(part)}`;
  }
  return `${text}}`;
}

function withhold([name, part]: [string, unknown]): [string, unknown] {
  return [name, name === secretName ? withheld : part];
}
