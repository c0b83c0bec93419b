import { writeDescriptor } from '../files/write-descriptor.ts';

/** What a program needs of the process that it runs in. */
export interface ProgramHost {
  readonly environment: Readonly<Record<string, string | undefined>>;
  writeOut(text: string): void;
  writeError(text: string): void;
  /** Ends the process. In tests it returns. */
  exit(status: number): void;
  /** Calls `listener` at each such signal. */
  onSignal(name: 'SIGTERM' | 'SIGINT', listener: () => void): void;
  /** Calls `listener` when standard input ends. */
  onInputEnd(listener: () => void): void;
  /** Calls `listener` with errors that nobody caught. */
  onUncaught(listener: (error: unknown) => void): void;
}

/** This process. */
export const processHost: ProgramHost = {
  environment: process.env,
  writeOut: (text) => {
    try {
      writeDescriptor(1, text);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') return;
      writeError(`cannot write standard output: ${message}\n`);
      process.exit(3);
    }
  },
  writeError,
  exit: (status) => {
    process.exit(status);
  },
  onSignal: (name, listener) => {
    process.on(name, listener);
  },
  onInputEnd: (listener) => {
    process.stdin.on('error', () => undefined); // `close` follows.
    process.stdin.once('close', listener).resume();
  },
  onUncaught: (listener) => {
    process.on('uncaughtException', listener);
    process.on('unhandledRejection', listener);
  },
};

/** A failure there cannot be reported anywhere. */
function writeError(text: string): void {
  try {
    writeDescriptor(2, text);
  } catch {
    /* Its terminal or disk is gone. */
  }
}
