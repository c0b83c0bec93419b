export {
  bytes,
  choice,
  duration,
  flag,
  integer,
  list,
  parseDuration,
  text,
  type ConfigOf,
  type OptionSpec,
  type OptionSpecs,
} from '../config/index.ts';
export { defineProgram, type Program, type ProgramContext } from './define-program.ts';
export { processHost, type ProgramHost } from './host.ts';
export { readIsolationMode, type IsolationMode } from './isolation-word.ts';
export { keepLast } from './keep-last.ts';
export { natsOptions } from './nats-options.ts';
export { quotaOption, readQuotas } from './quota-option.ts';
export { traceOption } from './trace-option.ts';
