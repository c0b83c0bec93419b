/**
 * Stands for every `bytes` field that is empty, which most are: making an empty Buffer takes longer than reading the
 * rest of a small message.
 */
export const noBytes: Buffer = Buffer.alloc(0);

/** The same bytes as a Buffer, not a copy. They stay as long as the message that they are part of. */
export function asBuffer(bytes: Uint8Array): Buffer {
  if (bytes.length === 0) return noBytes;
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
