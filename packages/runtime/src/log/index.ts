export { createLogger, type Logger, type LogLevel, quietLogger } from './logger.ts';
