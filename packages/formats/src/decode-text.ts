import { FormatError } from './format-error.ts';

const lineEnd = 0x0a;

/**
 * Reads the bytes of a user's text file: UTF-8, or UTF-16 with a byte order mark. The mark is dropped; line ends stay
 * as they are.
 *
 * Nothing is replaced: other encodings, such as Latin-1, would yield wrong names.
 *
 * @param subject the file as the user named it.
 * @throws {FormatError} MUT_BAD_REQUEST with line and column of the first byte that is not text.
 */
export function decodeText(bytes: Uint8Array, subject: string): string {
  const utf16 =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? 'utf-16le'
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? 'utf-16be'
        : undefined;
  try {
    return new TextDecoder(utf16 ?? 'utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw utf16 === undefined
      ? notUtf8(bytes, subject)
      : new FormatError({
          code: 'MUT_BAD_REQUEST',
          subject,
          line: 1,
          column: 1,
          found: 'a mark of UTF-16 before other bytes',
          expected: 'text in UTF-8',
        });
  }
}

function notUtf8(bytes: Uint8Array, subject: string): FormatError {
  const at = firstWrong(bytes);
  const start = bytes.lastIndexOf(lineEnd, at - 1) + 1;
  let line = 1;
  for (let index = bytes.indexOf(lineEnd); index !== -1 && index < at; index = bytes.indexOf(lineEnd, index + 1))
    line += 1;
  const column = new TextDecoder().decode(bytes.subarray(start, at)).length + 1;
  return new FormatError({
    code: 'MUT_BAD_REQUEST',
    subject,
    line,
    column,
    found: `the byte 0x${(bytes[at] ?? 0).toString(16).padStart(2, '0')}, which is not UTF-8`,
    expected: 'text in UTF-8, as "iconv -f latin1 -t utf-8" makes of Latin-1',
  });
}

/** Index of the first byte that does not belong to a character: everything before it is sound. */
function firstWrong(bytes: Uint8Array): number {
  let [low, high] = [0, bytes.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isBeginning(bytes.subarray(0, middle))) low = middle;
    else high = middle - 1;
  }
  return characterStart(bytes, low);
}

/** Whether bytes are text that may be cut within its last character. */
function isBeginning(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Goes back to the start of a character that is cut at `end`. */
function characterStart(bytes: Uint8Array, end: number): number {
  let start = end;
  while (start > 0 && end - start < 3 && ((bytes[start - 1] ?? 0) & 0xc0) === 0x80) start -= 1;
  const lead = bytes[start - 1] ?? 0;
  return start > 0 && start - 1 + getLength(lead) > end ? start - 1 : end;
}

/** Bytes of a character by its first. */
function getLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc2 ? 2 : 1;
}
