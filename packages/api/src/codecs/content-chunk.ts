import { decodeMessage } from './common.ts';

/** Metadata that the answer to a push begins with: how many bytes of the content's beginning are stored already. */
export const offsetHeader = 'mutirao-offset';

/** Bytes to leave free before a chunk's data, so that it can be framed where it lies. */
export const chunkHeadroom = 8;

/**
 * Frames the data of a chunk as the only field of its message, without copying it.
 *
 * @param buffer holds `length` bytes of data after `chunkHeadroom` free ones, of which some are overwritten.
 * @param field number of the data field, below 16.
 * @returns the message: a view of `buffer`.
 */
export function frameChunk(buffer: Buffer, length: number, field: number): Buffer {
  const header = [(field << 3) | 2];
  let rest = length;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) header.push((rest & 0x7f) | 0x80);
  header.push(rest);
  const start = chunkHeadroom - header.length;
  for (const [index, byte] of header.entries()) buffer[start + index] = byte;
  return buffer.subarray(start, chunkHeadroom + length);
}

/** The data of a message whose only field is a chunk's data, as a view of it; undefined when it holds anything else. */
export function readChunk(message: Buffer, field: number): Buffer | undefined {
  if (message[0] !== ((field << 3) | 2)) return undefined;
  let length = 0;
  let factor = 1;
  for (let at = 1; at < chunkHeadroom; at += 1) {
    const byte = message[at];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * factor;
    factor *= 128;
    if (byte < 0x80) return at + 1 + length === message.length ? message.subarray(at + 1) : undefined;
  }
  return undefined;
}

/**
 * The data of a message of a transfer, whatever else is in it.
 *
 * @throws {MutiraoError} MUT_PROTOCOL for bytes that are not such a message.
 */
export function chunkData(
  message: Buffer,
  field: number,
  codec: { decode(bytes: Uint8Array): { readonly data: Buffer } },
): Buffer {
  return readChunk(message, field) ?? decodeMessage(codec, message).data;
}
