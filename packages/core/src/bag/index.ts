export { keepInside } from './keep-inside.ts';
export { expandPathVariables, pathVariablesOf, type PathPlace, type PathVariables } from './path-variables.ts';
export { quoteForShell } from './shell-words.ts';
export {
  commandFromWords, escapeTemplate, hasPlaceholder, parseTemplate, renderCommand, renderPath, type Template, type TemplatePart,
} from './template.ts';
export { freeProcessors, type BagMachine, type BagQueue } from './bag.ts';
export { IdleSlots } from './idle-slots.ts';
export { outlineLease } from './outline-lease.ts';
export { placeReady, type PlacementPort } from './place-ready.ts';
export { prefetchDepth, type PrefetchFacts, type PrefetchRules } from './prefetch.ts';
export { quarantineTime, type QuarantineRules } from './quarantine.ts';
export { replicate, type ReplicableTask, type ReplicationPort } from './replicate.ts';
export type { BagScheduler } from './scheduler.ts';
export { chooseWithdrawals, type WithdrawableReplica, type WithdrawalPort } from './withdraw.ts';
export { workqueue } from './workqueue.ts';
