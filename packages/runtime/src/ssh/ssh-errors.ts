import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';

const kinds: readonly (readonly [RegExp, ErrorCode])[] = [
  [/host key verification failed|remote host identification has changed|no .*host key is known/i, 'MUT_SSH_HOST_KEY'],
  [/permission denied|too many authentication failures|no more authentication methods/i, 'MUT_SSH_DENIED'],
  [/bad configuration option|bad owner or permissions|can't open user config file|unknown option|usage: ssh|keyword .* extra arguments|missing argument/i, 'MUT_BAD_CONFIG'],
];

/** Turns the last words of an `ssh` that could not connect into an error. */
export function sshError(destination: string, told: string): MutiraoError {
  const words = lastWords(told);
  const code = kinds.find(([pattern]) => pattern.test(told))?.[1] ?? 'MUT_UNREACHABLE';
  return new MutiraoError(code, `ssh ${destination}: ${words === '' ? 'it ended without a word' : words}`);
}

/** What a command told in the end, in one line of at most 400 characters. */
export function lastWords(told: string): string {
  const lines = told.split(/\r?\n/).map((line) => line.trim())
    .filter((line) => line !== '' && !/^(?:\*\* |@{5}|Warning: Permanently added|Killed by signal|Shared connection to)/.test(line));
  return lines.slice(-3).join('; ').slice(-400);
}
