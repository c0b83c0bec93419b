import { MutiraoError } from '@mutirao/api/errors';

/** Flags of oarsub that are passed on, each with a value. */
const withValue: ReadonlySet<string> = new Set([
  '-q',
  '--queue',
  '-p',
  '--property',
  '-t',
  '--type',
  '--project',
  '--notify',
  '-a',
  '--after',
  '--signal',
  '--checkpoint',
  '-i',
  '--import-job-key-from-file',
]);

/**
 * Reads flags that a user gives for each submission. @throws {MutiraoError} MUT_BAD_CONFIG for any that is not known,
 * or is ours to say.
 */
export function readUserFlags(words: readonly string[]): readonly string[] {
  for (let at = 0; at < words.length; at += 1) {
    const [flag = '', value] = (words[at] ?? '').split('=', 2);
    if (!withValue.has(flag))
      throw new MutiraoError(
        'MUT_BAD_CONFIG',
        `the flag "${words[at] ?? ''}" of oarsub is refused; expected one of ${[...withValue].join(', ')}, ` +
          'since all else is decided here',
      );
    const isWordBefore = value === undefined || !flag.startsWith('--');
    if (isWordBefore) at += 1;
  }
  return words;
}

/** Of flags that `readUserFlags` took, those that say which queue, resources and project: reservations have them too. */
export function findWhereFlags(words: readonly string[]): readonly string[] {
  const flags: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [flag = '', value] = word.split('=', 2);
    const taken = value === undefined || !flag.startsWith('--') ? 2 : 1;
    if (isWhere.has(flag)) flags.push(...words.slice(at, at + taken));
    at += taken - 1;
  }
  return flags;
}

const isWhere: ReadonlySet<string> = new Set(['-q', '--queue', '-p', '--property', '--project']);
