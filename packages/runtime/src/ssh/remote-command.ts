import { MutiraoError } from '@mutirao/api/errors';
import { quoteWord } from '../processes/index.ts';

/** Any longer and the kernel of the other host refuses it as one argument. */
const bytesMax = 120 * 1024;

/**
 * Writes words as the one text that a login shell of any kind (sh, csh, fish) takes for a command of just these words.
 *
 * Shells agree on words between single quotes unless these hold a quote, a backslash, an exclamation mark or a line
 * end. What holds one of those goes
 * as octal numbers to a Bourne shell, which is there whatever the login shell is.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST when there is no word, a word holds a zero byte, or all are too long.
 */
export function remoteCommand(words: readonly string[]): string {
  if (words.length === 0) throw new MutiraoError('MUT_BAD_REQUEST', 'the command for the other host has no words');
  const withZero = words.find((word) => word.includes('\0'));
  if (withZero !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the word ${JSON.stringify(withZero.slice(0, 40))} for the other host holds a zero byte`,
    );
  const line = words.map(quoteWord).join(' ');
  const text = words.every((word) => isAlikeEverywhere(word))
    ? line
    : `/bin/sh -c 'eval "$(printf %b "$0")"' '${octal(line)}'`;
  const bytes = Buffer.byteLength(text);
  if (bytes > bytesMax)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the command for the other host has ${bytes} bytes; expected at most ${bytesMax}`,
    );
  return text;
}

function isAlikeEverywhere(word: string): boolean {
  return !/['\\!\u0000-\u001f\u007f]/.test(word);
}

/** Plain letters stay as they are, any other byte becomes `\0ooo`, which printf's `%b` reads. */
function octal(line: string): string {
  let text = '';
  for (const byte of Buffer.from(line)) {
    const character = String.fromCharCode(byte);
    text += /[A-Za-z0-9 ./_=:,+-]/.test(character) ? character : `\\0${byte.toString(8).padStart(3, '0')}`;
  }
  return text;
}
