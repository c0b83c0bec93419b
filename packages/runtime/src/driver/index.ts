export { Backoff, type BackoffRules } from './backoff.ts';
export { ChangeSignal } from './change-signal.ts';
export {
  FollowedClock,
  steadyClock,
  systemClock,
  wallClock,
  workClock,
  type Clock,
  type SystemTimes,
} from './clock.ts';
export { MachineDriver, type CommittedChange, type MachineDriverOptions } from './machine-driver.ts';
export { systemTimers, type Timers } from './timers.ts';
export { openTrace, type TraceSetup } from './trace-file.ts';
export type { TurnTrace } from './turn-trace.ts';
export { reportStalled } from './report-stalled.ts';
