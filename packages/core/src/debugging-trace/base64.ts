const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const pad = '='.charCodeAt(0);
/** Characters that are joined at a time, so that no call has too many arguments. */
const pieceLength = 8192;

/** Writes bytes in base64, with padding (RFC 4648). */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  let piece: number[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const three = (byteAt(bytes, at) << 16) | (byteAt(bytes, at + 1) << 8) | byteAt(bytes, at + 2);
    piece.push(
      alphabet.charCodeAt(three >> 18),
      alphabet.charCodeAt((three >> 12) & 63),
      left > 1 ? alphabet.charCodeAt((three >> 6) & 63) : pad,
      left > 2 ? alphabet.charCodeAt(three & 63) : pad,
    );
    if (piece.length < pieceLength) continue;
    text += String.fromCharCode(...piece);
    piece = [];
  }
  return text + String.fromCharCode(...piece);
}

/** Reads what `toBase64` wrote; undefined for another text. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const end = text.indexOf('=');
  const count = end < 0 ? text.length : end;
  const bytes = new Uint8Array(Math.floor((count * 3) / 4));
  let bits = 0;
  let written = 0;
  for (let at = 0; at < count; at++) {
    bits = ((bits << 6) | getValue(text.charCodeAt(at))) & 0xffffff;
    if (at % 4 !== 0) bytes[written++] = (bits >> (6 - 2 * (at % 4))) & 0xff;
  }
  return bytes;
}

function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

function getValue(code: number): number {
  if (code >= 97) return code - 71;
  if (code >= 65) return code - 65;
  if (code >= 48) return code + 4;
  return code === 43 ? 62 : 63;
}
