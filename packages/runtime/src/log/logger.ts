import { showJson } from '@mutirao/core/shared';
import { destination, pino } from 'pino';

/** What the rest of Mutirao needs of a logger: pino's way of calling, fields first. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
  /** A logger that adds these fields to each line. */
  child(fields: object): Logger;
}

/** How much is logged. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/**
 * A logger that writes one JSON line per message to standard error, at once: a line is out before the next statement
 * runs,
 * also when the process then dies. What would control a terminal is escaped.
 */
export function createLogger(name: string, level: LogLevel = 'info'): Logger {
  const standardError = destination({ dest: 2, sync: true });
  return pino(
    { name, level, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    {
      write: (line) => {
        standardError.write(showJson(line));
      },
    },
  );
}

/** A logger that writes nothing. */
export const quietLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  fatal: () => undefined,
  child: () => quietLogger,
};
