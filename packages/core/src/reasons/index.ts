export type { ParameterKind } from './parameters.ts';
export { reasonTable, type Reason, type ReasonCode, type GetReason } from './reasons.ts';
export { areSameReasons } from './same-reasons.ts';
export { readSavedReason, readSavedReasons } from './read-saved.ts';
