import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';

/** Before it connects ssh complains of its own files and options alone, in its first words. */
const configPattern =
  /^(?:bad owner or permissions on \/|can't open user config file |unknown option -- |usage: ssh|(?:command-line|\/\S*):? line \d+: )/i;

/**
 * How ssh itself ends when it is not let in, in its last two lines. Nothing else is believed: a banner of the other
 * host may say "Permission denied".
 */
const refusals: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^(?:\S+@\S+: )?Host key verification failed\.$|^No \S+ host key is known for /, 'MUT_SSH_HOST_KEY'],
  [
    /(?:^|\S)\S*@\S+: Permission denied \([\w,.@-]*\)\.$|^Received disconnect from .*: Too many authentication failures|^no more authentication methods/i,
    'MUT_SSH_DENIED',
  ],
];

/**
 * Turns the last words of an `ssh` that ended into an error.
 *
 * @param hasConnected whether the other host had let it in: then whatever ended it is a matter of the network or of the
 * other host, and passes.
 */
export function sshError(destination: string, reported: string, hasConnected = false): MutiraoError {
  const words = lastWords(reported);
  const message = `ssh ${destination}: ${words === '' ? 'it ended without a word' : words}`;
  return new MutiraoError(hasConnected ? 'MUT_UNREACHABLE' : getCode(reported), message);
}

function getCode(reported: string): ErrorCode {
  const lines = withoutWayIn(listLines(reported));
  if (configPattern.test(lines[0] ?? '')) return 'MUT_BAD_CONFIG';
  return refusals.find(([pattern]) => lines.slice(-2).some((line) => pattern.test(line)))?.[1] ?? 'MUT_UNREACHABLE';
}

/**
 * Words without those about a jump host or another command on the way that ended: before them stands why it did, in
 * its own last words.
 */
function withoutWayIn(lines: readonly string[]): readonly string[] {
  const isWayIn = /^Connection (?:closed|reset) by UNKNOWN port 65535$/.test(lines.at(-1) ?? '');
  const rest = isWayIn ? lines.slice(0, -1) : lines;
  return isWayIn && /^kex_exchange_identification: /.test(rest.at(-1) ?? '') ? rest.slice(0, -1) : rest;
}

/** The last lines of a command's output, in one line of at most 400 characters. */
export function lastWords(reported: string): string {
  return listLines(reported).slice(-3).join('; ').slice(-400);
}

/** The same for a message, which is never empty. */
export function quoteLastWords(reported: string): string {
  return lastWords(reported) || 'it printed no message';
}

function listLines(reported: string): string[] {
  return reported
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(
      (line) =>
        line !== '' &&
        !/^(?:debug\d: |\*\* |@{5}|Warning: Permanently added|Killed by signal|Shared connection to|OpenSSH_\d)/.test(
          line,
        ),
    );
}
