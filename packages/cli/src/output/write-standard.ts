import type { ErrorCode } from '@mutirao/api/errors';
import { isFullDisk, writeDescriptor } from '@mutirao/runtime/files';

/** Nobody reads standard output any more, as after `| head`: the command ends early, which is not a failure. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';
}

/** Standard output, or a file of the user's, could not be written. Not an operating error that a loop may try again. */
export class OutputFailed extends Error {
  override readonly name = 'OutputFailed';
  /** What to call it; its advice is in the registry. */
  readonly code: ErrorCode;

  constructor(subject: string, cause: NodeJS.ErrnoException) {
    super(`cannot write ${subject}: ${getReason(cause)}`, { cause });
    this.code = isFullDisk(cause) ? 'MUT_DISK_FULL' : 'MUT_BAD_REQUEST';
  }
}

/**
 * Writes to standard output. @throws {OutputClosed} when its reader is gone. @throws {OutputFailed} when it cannot be
 * written.
 */
export function writeStandardOutput(content: string | Uint8Array): void {
  try {
    writeDescriptor(1, content);
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    throw failure.code === 'EPIPE'
      ? new OutputClosed('standard output is closed', { cause: error })
      : new OutputFailed('standard output', failure);
  }
}

/** Writes to standard error. A failure there cannot be reported anywhere, so it stops nothing. */
export function writeStandardError(content: string | Uint8Array): void {
  try {
    writeDescriptor(2, content);
  } catch {
    /* Its terminal or disk is gone. */
  }
}

/**
 * Turns a full disk below any file that a command writes into what its user can mend; any other error comes back as it
 * is.
 */
export function asOutputFailure(error: unknown): unknown {
  if (error instanceof OutputFailed || !(error instanceof Error) || !('syscall' in error) || !isFullDisk(error))
    return error;
  const failure: NodeJS.ErrnoException = error as Error;
  return new OutputFailed(failure.path ?? 'a file', failure);
}

/** The system's own words: Node puts a code before them, and the call and its paths behind. */
function getReason({ message, code = '' }: NodeJS.ErrnoException): string {
  return message.replace(`${code}: `, '').replace(/, [a-z]+(?: '.*)?$/s, '');
}
