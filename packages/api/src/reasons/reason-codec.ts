import { reasonTable, type ParameterKind, type Reason, type ReasonCode } from '@mutirao/core/reasons';

import { badRequest, boundList, boundText } from '../codecs/common.ts';
import { clip, limits } from '../limits.ts';
import type { Reason as ReasonWire, ReasonValue as ValueWire } from '../generated/mutirao/common/v1/common.ts';
import { sayReason } from './say-reason.ts';

type Value = number | string | boolean | readonly string[];

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
export function decodeReason(wire: ReasonWire, name: string): Reason {
  const { code, parameters, text } = wire;
  boundText(code, 'code', `${name}.code`);
  boundText(text, 'text', `${name}.text`);
  if (!/^[a-z\d-]*$/.test(code))
    throw badRequest(`${name}.code is ${JSON.stringify(code)}; expected a code of reasons`);
  const found = isKnown(code) ? readParameters(code, parameters, name) : undefined;
  return found ?? { code: 'unknown-reason', reasonCode: code, words: text };
}

/** Reads reasons of bounded number. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeReasons(wire: readonly ReasonWire[], name: string): Reason[] {
  return boundList(wire, 'reasons', name).map((reason) => decodeReason(reason, name));
}

function isKnown(code: string): code is ReasonCode {
  return Object.hasOwn(reasonTable, code) && code !== 'unknown-reason';
}

function readParameters(code: ReasonCode, wire: ReasonWire['parameters'], name: string): Reason | undefined {
  const parameters: Record<string, Value> = {};
  for (const [parameter, kind] of Object.entries<ParameterKind>(reasonTable[code])) {
    const value = readValue(wire[toSnake(parameter)], `${name}.${parameter}`);
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
    default:
      return typeof value === 'string' && kind.includes(value);
  }
}

function encodeValue(value: Value): ValueWire {
  if (typeof value === 'number') return { value: { $case: 'number', value } };
  if (typeof value === 'boolean') return { value: { $case: 'flag', value } };
  if (typeof value === 'string') return { value: { $case: 'text', value: clip(value) } };
  return { value: { $case: 'list', value: { texts: value.slice(0, limits.reasons.max).map((text) => clip(text)) } } };
}

function readValue(wire: ValueWire | undefined, name: string): Value | undefined {
  if (wire?.value === undefined) return undefined;
  const { value } = wire;
  if (value.$case === 'text') return boundText(value.value, 'text', name);
  if (value.$case !== 'list') return value.value;
  for (const text of boundList(value.value.texts, 'reasons', name)) boundText(text, 'text', name);
  return value.value.texts;
}

/** Names on the wire are as those of its fields: `walltime_ms_max`. */
function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
