/** Characters that mean the same in every shell within the quotes of `encodeScript`, and in a printf format. */
const plain = /^[A-Za-z0-9 _./:,@+=;&|<>()[\]{}*?#~^-]$/;

/**
 * Turns a shell script into one line of plain ASCII that any login shell runs with /bin/sh: whatever stands in it, line
 * ends, quotes and bytes of other
 * scripts of the world included, reaches /bin/sh as it is.
 *
 * Lines at its end are lost, as those of any command substitution. The line is at most four times as long, and twelve
 * more for the frame.
 */
export function encodeScript(script: string): string {
  let encoded = '';
  for (const byte of Buffer.from(script)) {
    const character = String.fromCharCode(byte);
    if (plain.test(character)) encoded += character;
    else if (character === '%') encoded += '%%';
    else encoded += `\\${byte.toString(8).padStart(3, '0')}`;
  }
  return `/bin/sh -c 'eval "$(printf "${encoded}")"'`;
}
