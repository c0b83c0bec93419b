export type { ParameterKind } from './parameters.ts';
export {
  causeTable,
  faultTable,
  reasonTable,
  type Cause,
  type Fault,
  type FaultCode,
  type GetReason,
  type Reason,
  type ReasonCode,
  type Refusal,
} from './reasons.ts';
export { areSameReasons, distinctReasons } from './same-reasons.ts';
export { readSavedReason, readSavedReasons } from './read-saved.ts';
