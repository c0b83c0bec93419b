export { createLogger, type Logger, type LogLevel, quietLogger } from './logger.ts';
export { RepeatedLines } from './repeated-lines.ts';
