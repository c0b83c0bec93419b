/** Shared by all that is empty, which is most; nobody writes into it. */
const noBytes = Buffer.alloc(0);

/** The same bytes, not a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  if (bytes.length === 0) return noBytes;
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
