import type { MutiraoError } from '@mutirao/api/errors';
import type { Logger } from '../log/index.ts';

/** Logs that a driver stalls for want of room, and that it goes on: what `onStalled` calls. */
export function reportStalled(log: Logger, error: MutiraoError | undefined): void {
  if (error === undefined) log.info({}, 'there is room for the journal again');
  else
    log.error(
      { code: error.code, advice: error.advice },
      `the journal cannot be written, and nothing goes on until it can: ${error.message}`,
    );
}
