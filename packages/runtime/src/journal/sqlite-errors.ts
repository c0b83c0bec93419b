import { MutiraoError } from '@mutirao/api/errors';

/** Primary result codes of SQLite that mean something to a user. */
const busy = 5;
const locked = 6;
const corrupt = 11;
const full = 13;
const notADatabase = 26;
/** The extended code of a write that failed: a quota, among others. */
const writeFailed = 778;

/** The primary result code of an error of node:sqlite; undefined for any other error. */
function resultCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

function extendedCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** Turns what node:sqlite threw into an error that says what to do; an error of another kind comes back as it is. */
export function journalError(error: unknown, path: string, doing: string): unknown {
  const code = resultCode(error);
  if (code === undefined) return error;
  const { message } = error as Error;
  if (code === busy || code === locked) {
    return new MutiraoError('MUT_ALREADY_RUNNING', `${path} is in use by another process`, { cause: error });
  }
  if (code === corrupt || code === notADatabase) {
    return new MutiraoError('MUT_JOURNAL_CORRUPT', `${path} is damaged: ${message}`, { cause: error });
  }
  if (code === full || extendedCode(error) === writeFailed) {
    return new MutiraoError('MUT_DISK_FULL', `${path}: ${doing} failed, there is no room: ${message}`, {
      cause: error,
    });
  }
  return new MutiraoError('MUT_JOURNAL_FAILED', `${path}: ${doing} failed: ${message}`, { cause: error });
}
