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

/** What dash and busybox write where a signal ends a command. */
const signalWords: Readonly<Record<number, string>> = {
  1: 'Hangup',
  3: 'Quit',
  4: 'Illegal instruction',
  5: 'Trace/breakpoint trap',
  6: 'Aborted',
  7: 'Bus error',
  8: 'Floating point exception',
  9: 'Killed',
  10: 'User defined signal 1',
  11: 'Segmentation fault',
  12: 'User defined signal 2',
  14: 'Alarm clock',
  15: 'Terminated',
  16: 'Stack fault',
  24: 'CPU time limit exceeded',
  25: 'File size limit exceeded',
  26: 'Virtual timer expired',
  27: 'Profiling timer expired',
  29: 'I/O possible',
  30: 'Power failure',
  31: 'Bad system call',
};

/**
 * The signal that a status stands for, if the shell that reports it has said so as the last line of standard error;
 * undefined otherwise.
 *
 * dash leaves a command's redirections in force while it waits, so its words come after those of the command.
 */
export function findSaidSignal(status: number, standardError: Uint8Array): number | undefined {
  const words = signalWords[status - 128];
  if (words === undefined || standardError.length === 0) return undefined;
  const end = Buffer.from(standardError.subarray(-80)).toString('latin1');
  return [`${words}\n`, `${words} (core dumped)\n`].some((said) => end.endsWith(said)) ? status - 128 : undefined;
}
