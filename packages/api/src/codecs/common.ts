import type { Content, Limits, Root } from '@mutirao/core/messages';
import type { QuotaUse } from '@mutirao/core/quotas';
import { isPrintable, showText, describeError } from '@mutirao/core/shared';

import { MutiraoError } from '../errors/index.ts';
import { limits, type LimitName } from '../limits.ts';
import {
  Root as RootWire,
  type Content as ContentWire,
  type Limits as LimitsWire,
  type QuotaUse as QuotaUseWire,
} from '../generated/mutirao/common/v1/common.ts';

const sha256Length = 32;

/**
 * Reads a content's name. @throws {MutiraoError} MUT_BAD_REQUEST when it is absent or its hash is not 32 bytes long.
 */
export function decodeContent(wire: ContentWire | undefined, name = 'content'): Content {
  if (wire === undefined) throw badRequest(`${name} is absent`);
  return {
    sha256: decodeSha256(wire.sha256, `${name}.sha256`),
    size: boundNumber(wire.sizeBytes, 'contentBytes', `${name}.size_bytes`),
  };
}

/** Writes a content's name for the wire. */
export function encodeContent(content: Content): ContentWire {
  return { sha256: Buffer.from(content.sha256, 'hex'), sizeBytes: content.size };
}

/** Reads a hash as hexadecimal. @throws {MutiraoError} MUT_BAD_REQUEST when it is not 32 bytes long. */
export function decodeSha256(wire: Uint8Array, name = 'sha256'): string {
  if (wire.length !== sha256Length) throw badRequest(`${name} has ${wire.length} bytes; expected ${sha256Length}`);
  return Buffer.from(wire.buffer, wire.byteOffset, wire.length).toString('hex');
}

/** Reads where a path begins. @throws {MutiraoError} MUT_BAD_REQUEST for a value that this release does not know. */
export function decodeRoot(wire: RootWire, name = 'root'): Root {
  if (wire === RootWire.PLAYPEN) return 'playpen';
  if (wire === RootWire.STORAGE) return 'storage';
  throw badRequest(`${name} is ${String(wire)}; expected ROOT_PLAYPEN or ROOT_STORAGE`);
}

/** Writes where a path begins for the wire. */
export function encodeRoot(root: Root): RootWire {
  return root === 'playpen' ? RootWire.PLAYPEN : RootWire.STORAGE;
}

/** Reads the bounds on a replica; absent means none. */
export function decodeLimits(wire: LimitsWire | undefined): Limits {
  return {
    runTimeMax: wire?.runTimeMsMax ?? 0,
    memoryMax: wire?.memoryBytesMax ?? 0,
    outputMax: wire?.outputBytesMax ?? 0,
  };
}

/** Writes the bounds on a replica for the wire. */
export function encodeLimits(limits: Limits): LimitsWire {
  return { runTimeMsMax: limits.runTimeMax, memoryBytesMax: limits.memoryMax, outputBytesMax: limits.outputMax };
}

/** Reads a text of bounded length. @throws {MutiraoError} MUT_BAD_REQUEST */
export function boundText(value: string, limit: LimitName, name: string): string {
  if (value.length > limits[limit].max)
    throw badRequest(`${name} has ${value.length} characters; expected ${limits[limit].max} at most`);
  return value;
}

/**
 * Reads a text that becomes a command line, a variable or a path, none of which can hold a NUL. @throws {MutiraoError}
 * MUT_BAD_REQUEST
 */
export function refuseNul(value: string, name: string): string {
  if (value.includes('\0')) throw badRequest(`${name} holds a NUL; expected none`);
  return value;
}

/** Reads a name of bounded length. @throws {MutiraoError} MUT_BAD_REQUEST where it holds a control character. */
export function boundName(value: string, limit: LimitName, name: string): string {
  boundText(value, limit, name);
  if (!isPrintable(value))
    throw badRequest(
      `${name} is "${showText(value)}"; expected no control characters, ends of lines or marks of direction`,
    );
  return value;
}

/** Reads a challenge, or a proof for one. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeProofText(text: string, name: string): string {
  boundText(text, 'proof', name);
  if (!/^[\w-]*$/.test(text)) throw badRequest(`${name} is not base64url`);
  return text;
}

/** Reads the code of a reason; empty for none. @throws {MutiraoError} MUT_BAD_REQUEST */
export function boundCode(value: string, name: string): string {
  if (value !== '' && (value.length > limits.code.max || !/^[\w.-]+$/.test(value)))
    throw badRequest(
      `${name} is ${JSON.stringify(value.slice(0, limits.code.max))}; expected a code of the error registry`,
    );
  return value;
}

/**
 * Reads a whole number that is bounded: a count, a size, an instant or a duration. @throws {MutiraoError}
 * MUT_BAD_REQUEST
 */
export function boundNumber(value: number, limit: LimitName, name: string): number {
  // Also false for NaN.
  if (!(value >= 0 && value <= limits[limit].max))
    throw badRequest(`${name} is ${value}; expected 0 to ${limits[limit].max}`);
  return value;
}

/** Reads processors, of which there must be one. @throws {MutiraoError} MUT_BAD_REQUEST */
export function boundProcessors(
  value: number,
  limit: 'machineProcessors' | 'resourceProcessors',
  name: string,
): number {
  if (!(value >= 1 && value <= limits[limit].max))
    throw badRequest(`${name} is ${value}; expected 1 to ${limits[limit].max}`);
  return value;
}

/** Reads a list of bounded length. @throws {MutiraoError} MUT_BAD_REQUEST */
export function boundList<T>(list: readonly T[], limit: LimitName, name: string): readonly T[] {
  if (list.length > limits[limit].max)
    throw badRequest(`${name} has ${list.length} items; expected ${limits[limit].max} at most`);
  return list;
}

/** Decodes a message. @throws {MutiraoError} MUT_PROTOCOL for bytes that are not such a message. */
export function decodeMessage<T>(codec: { decode(bytes: Uint8Array): T }, bytes: Uint8Array): T {
  try {
    return codec.decode(bytes);
  } catch (error) {
    throw new MutiraoError('MUT_PROTOCOL', `malformed message: ${describeError(error)}`, { cause: error });
  }
}

/** The error for a field that says what it may not. */
export function badRequest(message: string): MutiraoError {
  return new MutiraoError('MUT_BAD_REQUEST', message);
}

/** Writes what a user has and may have. No quota is written as absent. */
export function encodeQuotaUses(uses: readonly QuotaUse[]): QuotaUseWire[] {
  return uses.map(({ name, used, allowed }) => ({
    kind: name,
    used,
    allowed: allowed === Infinity ? undefined : allowed,
  }));
}
