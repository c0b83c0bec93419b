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
} from './options.ts';
export { environmentName, flagName, readConfig, type ConfigSources, type GivenTexts } from './read-config.ts';
