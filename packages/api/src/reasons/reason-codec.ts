import { reasonTable, type Cause, type ParameterKind, type Reason, type ReasonCode } from '@mutirao/core/reasons';

import { showText } from '@mutirao/core/shared';
import { badRequest, boundList, boundText } from '../codecs/common.ts';
import { clip, limits } from '../limits.ts';
import type { Reason as ReasonWire, ReasonValue as ValueWire } from '../generated/mutirao/common/v1/common.ts';
import { sayReason } from './say-reason.ts';

type Value = number | string | boolean | readonly string[] | Reason;

/** Reasons inside one another that a peer may send. */
const depthMax = 4;

/**
 * Characters of a cause with its parameters: a list of tasks shows several. Of a longer one its sentence is kept.
 */
const causeLengthMax = 2 * limits.text.max;

/** Writes a reason for the wire, with the sentence that the catalogue makes of it. */
export function encodeReason(reason: Reason): ReasonWire {
  const text = clip(sayReason(reason));
  if (reason.code === 'unknown-reason') return { code: reason.reasonCode, parameters: {}, text };
  const { code, ...parameters } = reason;
  const values = Object.entries<Value>(parameters).map(([name, value]) => [toSnake(name), encodeValue(value)] as const);
  return { code, parameters: Object.fromEntries(values), text };
}

/** Writes reasons for the wire, as many as it takes. */
export function encodeReasons(reasons: readonly Reason[]): ReasonWire[] {
  return reasons.slice(0, limits.reasons.max).map(encodeReason);
}

/**
 * Reads a reason. One that this release does not know, or whose parameters are others, keeps its code and its sentence.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST for one that is too long.
 */
export function decodeReason(wire: ReasonWire, name: string, depth = 1): Reason {
  if (depth > depthMax)
    throw badRequest(`${name} has more than ${depthMax} reasons inside one another; expected ${depthMax} at most`);
  const { code, parameters, text } = wire;
  boundText(code, 'code', `${name}.code`);
  boundText(text, 'text', `${name}.text`);
  if (!/^[a-z\d-]*$/.test(code))
    throw badRequest(`${name}.code is ${JSON.stringify(code)}; expected a code of reasons`);
  const found = isKnown(code) ? readParameters(code, parameters, { name, depth }) : undefined;
  return found ?? { code: 'unknown-reason', reasonCode: code, words: text };
}

/** Reads reasons of bounded number. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeReasons(wire: readonly ReasonWire[], name: string): Reason[] {
  return boundList(wire, 'reasons', name).map((reason) => decodeReason(reason, name));
}

/**
 * Writes why something happened; absent where there is nothing to say. Words of others have no code.
 */
export function encodeCause(cause: Cause): ReasonWire | undefined {
  if (cause === '') return undefined;
  return typeof cause === 'string' ? { code: '', parameters: {}, text: clip(cause) } : encodeReason(cause);
}

/**
 * Reads why something happened. What would control a terminal is shown as escapes.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST for one that is too long.
 */
export function decodeCause(wire: ReasonWire | undefined, name: string): Cause {
  if (wire === undefined) return '';
  if (wire.code === '') return showText(boundText(wire.text, 'text', `${name}.text`));
  const reason = showReason(decodeReason(wire, name));
  return JSON.stringify(reason).length <= causeLengthMax ? reason : clip(showText(wire.text));
}

function showReason({ code, ...parameters }: Reason): Reason {
  const values = Object.entries<Value>(parameters).map(([name, value]) => [name, showValue(value)] as const);
  return { code, ...Object.fromEntries(values) } as Reason;
}

function showValue(value: Value): Value {
  if (typeof value === 'string') return showText(value);
  if (typeof value !== 'object') return value;
  return 'code' in value ? showReason(value) : value.map((text) => showText(text));
}

/** Where a value stands, and inside how many reasons. */
interface Place {
  readonly name: string;
  readonly depth: number;
}

function isKnown(code: string): code is ReasonCode {
  return Object.hasOwn(reasonTable, code) && code !== 'unknown-reason';
}

function readParameters(code: ReasonCode, wire: ReasonWire['parameters'], { name, depth }: Place): Reason | undefined {
  const parameters: Record<string, Value> = {};
  for (const [parameter, kind] of Object.entries<ParameterKind>(reasonTable[code])) {
    const value = readValue(wire[toSnake(parameter)], { name: `${name}.${parameter}`, depth });
    if (value === undefined ? !isOptional(kind) : !isOfKind(value, kind)) return undefined;
    if (value !== undefined) parameters[parameter] = value;
  }
  return { code, ...parameters } as Reason;
}

function isOptional(kind: ParameterKind): boolean {
  return kind === 'number?' || kind === 'text?';
}

function isOfKind(value: Value, kind: ParameterKind): boolean {
  switch (kind) {
    case 'number':
    case 'number?':
      return typeof value === 'number' && Number.isFinite(value);
    case 'text':
    case 'text?':
      return typeof value === 'string';
    case 'flag':
      return typeof value === 'boolean';
    case 'texts':
      return Array.isArray(value);
    case 'cause':
      return typeof value === 'string' || (typeof value === 'object' && 'code' in value);
    default:
      return typeof value === 'string' && kind.includes(value);
  }
}

function encodeValue(value: Value): ValueWire {
  if (typeof value === 'number') return { value: { $case: 'number', value } };
  if (typeof value === 'boolean') return { value: { $case: 'flag', value } };
  if (typeof value === 'string') return { value: { $case: 'text', value: clip(value) } };
  if ('code' in value) return { value: { $case: 'reason', value: encodeReason(value) } };
  return { value: { $case: 'list', value: { texts: value.slice(0, limits.reasons.max).map((text) => clip(text)) } } };
}

function readValue(wire: ValueWire | undefined, { name, depth }: Place): Value | undefined {
  if (wire?.value === undefined) return undefined;
  const { value } = wire;
  if (value.$case === 'text') return boundText(value.value, 'text', name);
  if (value.$case === 'reason') return decodeReason(value.value, name, depth + 1);
  if (value.$case !== 'list') return value.value;
  for (const text of boundList(value.value.texts, 'reasons', name)) boundText(text, 'text', name);
  return value.value.texts;
}

/** Names on the wire are as those of its fields: `walltime_ms_max`. */
function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
