import type { Content, Limits, Root } from '@mutirao/core/messages';

import { MutiraoError } from '../errors/index.ts';
import { Root as RootWire, type Content as ContentWire, type Limits as LimitsWire } from '../generated/mutirao/common/v1/common.ts';

const sha256Length = 32;

/** Reads a content's name. @throws {MutiraoError} MUT_BAD_REQUEST when it is absent or its hash is not 32 bytes long. */
export function decodeContent(wire: ContentWire | undefined, name = 'content'): Content {
  if (wire === undefined) throw badRequest(`${name} is absent`);
  return { sha256: decodeSha256(wire.sha256, `${name}.sha256`), size: wire.sizeBytes };
}

/** Writes a content's name for the wire. */
export function encodeContent(content: Content): ContentWire {
  return { sha256: Buffer.from(content.sha256, 'hex'), sizeBytes: content.size };
}

/** Reads a hash as hexadecimal. @throws {MutiraoError} MUT_BAD_REQUEST when it is not 32 bytes long. */
export function decodeSha256(wire: Uint8Array, name = 'sha256'): string {
  if (wire.length !== sha256Length) throw badRequest(`${name} has ${wire.length} bytes; want ${sha256Length}`);
  return Buffer.from(wire.buffer, wire.byteOffset, wire.length).toString('hex');
}

/** Reads where a path begins. @throws {MutiraoError} MUT_BAD_REQUEST for a value that this release does not know. */
export function decodeRoot(wire: RootWire, name = 'root'): Root {
  if (wire === RootWire.PLAYPEN) return 'playpen';
  if (wire === RootWire.STORAGE) return 'storage';
  throw badRequest(`${name} is ${String(wire)}; want ROOT_PLAYPEN or ROOT_STORAGE`);
}

/** Writes where a path begins for the wire. */
export function encodeRoot(root: Root): RootWire {
  return root === 'playpen' ? RootWire.PLAYPEN : RootWire.STORAGE;
}

/** Reads the bounds on a replica; absent means none. */
export function decodeLimits(wire: LimitsWire | undefined): Limits {
  return { runTimeMax: wire?.runTimeMsMax ?? 0, memoryMax: wire?.memoryBytesMax ?? 0, outputMax: wire?.outputBytesMax ?? 0 };
}

/** Writes the bounds on a replica for the wire. */
export function encodeLimits(limits: Limits): LimitsWire {
  return { runTimeMsMax: limits.runTimeMax, memoryBytesMax: limits.memoryMax, outputBytesMax: limits.outputMax };
}

/** The error for a field that says what it may not. */
export function badRequest(message: string): MutiraoError {
  return new MutiraoError('MUT_BAD_REQUEST', message);
}
