export { readField, readFields, writeFields, type Fields } from './fields.ts';
export { keepInside } from './keep-inside.ts';
export {
  expandPathVariables,
  fillPath,
  findNameFault,
  getPathVariables,
  type FilledPath,
  type PathPlace,
  type PathVariables,
  type PathWords,
  type UnsafeVariable,
} from './path-variables.ts';
export { quoteForShell } from './shell-words.ts';
export {
  commandFromWords,
  escapeTemplate,
  hasPlaceholder,
  parseTemplate,
  renderPath,
  type Template,
  type TemplatePart,
} from './template.ts';
export {
  CommandFault,
  fillNamed,
  findCommandFault,
  parseCommand,
  renderCommand,
  type CommandTemplate,
} from './command/index.ts';
export {
  countStartable,
  freeProcessors,
  getAllowance,
  isBoundByProcessors,
  usableProcessors,
  type BagMachine,
  type BagQueue,
  type TaskNeeds,
} from './bag.ts';
export {
  doubtsMax,
  faultAtHome,
  faultOfCode,
  faultOfErrno,
  faultRows,
  isMisconduct,
  stopsMax,
  type Fault,
  type FaultRow,
  type Phase,
  type ClassifiedError,
} from './faults.ts';
export { findScheduler } from './find-scheduler.ts';
export { comparedMachinesMax, IdleSlots, type MachineChoice } from './idle-slots.ts';
export { KeptPart, type HeldPart } from './keep-part.ts';
export { mappedMachinesMax, mappedTasksMax } from './map-by-estimates.ts';
export { outlineLease } from './outline-lease.ts';
export { dispatchQueues } from './dispatch-queues.ts';
export { dispatchReady, type DispatchPort } from './dispatch-ready.ts';
export { prefetchDepth, type PrefetchFacts, type PrefetchRules } from './prefetch.ts';
export {
  getHealth,
  type MachineHealth,
  noSpace,
  noteHealth,
  quarantineDefaults,
  quarantineTime,
  type QuarantineRules,
  type ReportHealth,
} from './quarantine.ts';
export { budgetLeft, lossBy, type ReplicationCost, type TaskRuns } from './replication-cap.ts';
export { replicate, type ReplicableTask, type ReplicationPort } from './replicate.ts';
export { isCountedLoss, isDoubted, isShutdown, isSilentLoss, isStop, silentLoss } from './counted-ends.ts';
export type { BagScheduler, SchedulingPort } from './scheduler.ts';
export { chooseWithdrawals, type WithdrawableReplica, type WithdrawalPort } from './withdraw.ts';
export { orderByWork } from './order-by-work.ts';
