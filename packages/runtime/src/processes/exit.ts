import { constants } from 'node:os';

/** How a process ended. */
export interface ProcessExit {
  /** As a shell reports it: the exit status, 128 + number for a signal, 127 or 126 when it could not be started. */
  readonly status: number;
  /** Why it could not be started; empty otherwise. */
  readonly startError: string;
}

/** Turns Node's pair of exit code and signal into the one number that a shell reports. */
export function shellStatus(code: number | null, signal: NodeJS.Signals | null): number {
  if (code !== null) return code;
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** Turns a failed start into an exit: 127 where the program is not there, 126 where it cannot be executed. */
export function startFailure(error: NodeJS.ErrnoException): ProcessExit {
  return { status: error.code === 'ENOENT' ? 127 : 126, startError: error.message };
}
