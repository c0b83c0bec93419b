export {
  bytes,
  choice,
  duration,
  environmentName,
  flag,
  flagName,
  integer,
  list,
  parseDuration,
  text,
  type ConfigOf,
  type OptionSpec,
  type OptionSpecs,
} from '../config/index.ts';
export { commonOptions, type OptionGroup } from './command-line.ts';
export { defineProgram, type Program, type ProgramContext, type ProgramMain } from './define-program.ts';
export type { Example } from './help-format.ts';
export { processHost, type ProgramHost } from './host.ts';
export { readIsolationMode, type IsolationMode } from './isolation-word.ts';
export { keepLast } from './keep-last.ts';
export { natsOptions } from './nats-options.ts';
export { quotaOption, readQuotas } from './quota-option.ts';
export { traceOption } from './trace-option.ts';
