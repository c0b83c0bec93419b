import { MutiraoError } from '@mutirao/api/errors';
import type { ProgramFile } from './program-file.ts';
import type { SshConnection } from './ssh-connection.ts';
import { quoteLastWords } from './ssh-errors.ts';

/** Longest time that the executable may be under way. */
const copyMax = 30 * 60_000;

/** SHA: prints the path of the executable on the host, whether it exists, and the host's system. */
const lookScript = `
program=$HOME/.mutirao/programs/$1/mutirao
if [ -x "$program" ]; then echo "has $(uname -sm)"; else echo "lacks $(uname -sm)"; fi
echo "$program"
`;

/**
 * SHA BYTES: reads the gzipped executable, has it run once, and puts it in its place. Nothing is left of one that
 * failed.
 */
const installScript = `
umask 077
folder=$HOME/.mutirao/programs/$1
draft=$folder/mutirao.$$
mkdir -p -- "$folder" || exit 1
trap 'rm -f -- "$draft"; rmdir -- "$folder" 2>/dev/null' EXIT
gzip -dc >"$draft" || exit 1
found=$(($(wc -c <"$draft")))
[ "$found" -eq "$2" ] || { echo "the copy has $found bytes; expected $2" >&2; exit 1; }
chmod 700 "$draft" || exit 1
told=$("$draft" --version 2>&1) || { printf '%s\\n' "$told" >&2; exit 126; }
mv -f -- "$draft" "$folder/mutirao"
`;

/**
 * Brings our executable to the other host, once for each version, and returns its path there.
 *
 * @throws {MutiraoError} MUT_SITE_UNSUPPORTED_HOST with the host's words when it cannot run there; MUT_TRANSFER_FAILED;
 * as `SshConnection.run`.
 */
export async function carryProgram(
  connection: Pick<SshConnection, 'run' | 'destination'>,
  { sha256, bytes, system, packed }: ProgramFile,
): Promise<string> {
  const { destination } = connection;
  const { stdout } = await connection.run(['/bin/sh', '-c', lookScript, 'look', sha256]);
  const [, has, found = '', program = ''] = /^(has|lacks) (.*)\n(\/.*)\n$/.exec(stdout) ?? [];
  if (program === '')
    throw new MutiraoError(
      'MUT_TRANSFER_FAILED',
      `${destination} has no place for the executable: it answered ${JSON.stringify(stdout.slice(0, 80))}`,
    );
  if (has === 'has') return program;
  if (found !== system)
    throw new MutiraoError(
      'MUT_SITE_UNSUPPORTED_HOST',
      `${destination} runs ${found === '' ? 'nothing that we know' : found}, and the executable is for ${system}`,
    );
  const { status, stderr } = await connection.run(['/bin/sh', '-c', installScript, 'install', sha256, String(bytes)], {
    inputFile: await packed(),
    deadlineMs: copyMax,
  });
  if (status === 0) return program;
  const words = quoteLastWords(stderr);
  throw status === 126
    ? new MutiraoError('MUT_SITE_UNSUPPORTED_HOST', `${destination} cannot run the executable: ${words}`)
    : new MutiraoError('MUT_TRANSFER_FAILED', `the executable cannot be put on ${destination}: ${words}`);
}
