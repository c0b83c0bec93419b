import type { MutiraoError } from '@mutirao/api/errors';
import type { Logger } from '../log/index.ts';

/** Logs that a driver stalls for want of room, and that it goes on: what `onStalled` calls. */
export function reportStalled(log: Logger, error: MutiraoError | undefined): void {
  if (error === undefined) log.info({}, 'writing the journal again');
  else
    log.error(
      { code: error.code, advice: error.advice },
      `cannot write the journal; waiting until it can be written: ${error.message}`,
    );
}
