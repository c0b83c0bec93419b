export { keepInside } from './keep-inside.ts';
export { expandPathVariables, pathVariablesOf, type PathPlace, type PathVariables } from './path-variables.ts';
export { quoteForShell } from './shell-words.ts';
export {
  commandFromWords, escapeTemplate, hasPlaceholder, parseTemplate, renderCommand, renderPath, type Template, type TemplatePart,
} from './template.ts';
export { freeProcessors, type BagMachine, type BagQueue } from './bag.ts';
export { findScheduler } from './find-scheduler.ts';
export { comparedMachinesMax, IdleSlots, type MachineChoice } from './idle-slots.ts';
export { mappedMachinesMax, mappedTasksMax } from './map-by-estimates.ts';
export { outlineLease } from './outline-lease.ts';
export { placeQueues } from './place-queues.ts';
export { placeReady, type PlacementPort } from './place-ready.ts';
export { prefetchDepth, type PrefetchFacts, type PrefetchRules } from './prefetch.ts';
export { healthOf, type MachineHealth, noSpace, noteHealth, quarantineDefaults, quarantineTime, type QuarantineRules, type ReportHealth } from './quarantine.ts';
export { budgetLeft, lossBy, type ReplicationCost, type TaskRuns } from './replication-cap.ts';
export { replicate, type ReplicableTask, type ReplicationPort } from './replicate.ts';
export { isCountedLoss, isShutdown } from './shutdown-reasons.ts';
export type { BagScheduler, SchedulingPort } from './scheduler.ts';
export { chooseWithdrawals, type WithdrawableReplica, type WithdrawalPort } from './withdraw.ts';
