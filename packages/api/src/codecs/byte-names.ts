/**
 * The first of the 256 code units that stand for bytes which are not UTF-8, as in Python's "surrogateescape": byte B is
 * U+DC00 + B.
 */
const escapeBase = 0xdc00;
const hasEscape = /[\udc80-\udcff]/;
const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The name of a file as text, from its bytes. Bytes that are not UTF-8 become lone surrogates, so that `fsPath` finds
 * the file again: file names are bytes, and Node's own text of such a name is that of no file.
 */
export function nameOfBytes(bytes: Uint8Array): string {
  try {
    return fatal.decode(bytes);
  } catch {
    return decodeParts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
}

/** The bytes of a name or path that `nameOfBytes` made, joined or not. */
export function bytesOfName(name: string): Buffer {
  if (!hasEscape.test(name)) return Buffer.from(name);
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = 0; at < name.length; at += 1) {
    const unit = name.charCodeAt(at);
    // The second half of a surrogate pair does not stand for a byte.
    if (unit >= 0xd800 && unit < 0xdc00) {
      at += 1;
      continue;
    }
    if (unit < escapeBase + 0x80 || unit > escapeBase + 0xff) continue;
    parts.push(Buffer.from(name.slice(from, at)), Buffer.from([unit - escapeBase]));
    from = at + 1;
  }
  return Buffer.concat([...parts, Buffer.from(name.slice(from))]);
}

/** Whether a path holds a name that is not UTF-8. */
export function isByteName(path: string): boolean {
  return hasEscape.test(path);
}

function decodeParts(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    text += length === 0 ? String.fromCharCode(escapeBase + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + length);
    at += Math.max(1, length);
  }
  return text;
}

/** Bytes of the character that begins at a place; 0 where none does. */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  try {
    const end = at + length;
    if (end > bytes.length) return 0;
    fatal.decode(bytes.subarray(at, end));
    return length;
  } catch {
    return 0;
  }
}

/** Writes a path for the wire, where a text is UTF-8, which a path need not be. */
export function encodePath(path: string): { path: string; pathBytes?: Buffer } {
  return isByteName(path) ? { path: '', pathBytes: bytesOfName(path) } : { path };
}

/** Reads a path, in the form of `nameOfBytes`. */
export function decodePath({
  path,
  pathBytes,
}: {
  readonly path: string;
  readonly pathBytes?: Uint8Array | undefined;
}): string {
  return pathBytes === undefined ? path : nameOfBytes(pathBytes);
}
