export type { ParameterKind } from './parameters.ts';
export {
  faultTable,
  reasonTable,
  type Fault,
  type FaultCode,
  type GetReason,
  type Reason,
  type ReasonCode,
  type Refusal,
} from './reasons.ts';
export { areSameReasons } from './same-reasons.ts';
export { readSavedReason, readSavedReasons } from './read-saved.ts';
