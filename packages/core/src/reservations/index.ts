export { Calendar, type Alternatives, type CalendarSlot, type Window } from './calendar.ts';
export { makeColumns, type LoadedPlaces } from './loaded-places.ts';
export { UnitLists } from './unit-lists.ts';
export type { Block, BlockOutcome } from './blocks.ts';
export {
  findResourceFault,
  getOffered,
  resourceDefaults,
  wholePpm,
  type PlacementRule,
  type ReservableResource,
} from './resource.ts';
export {
  instantMax,
  getLaxity,
  type Answer,
  type Elastic,
  type Extent,
  type Malleable,
  type Moved,
  type Placement,
  type PlacedReservation,
  type Refusal,
  type RefusalReason,
  type ReservationId,
  type ReservationRequest,
  type Rigid,
} from './request.ts';
export { describeAmount, listUnitNames, parseAmount, getShare, type Dimension } from './amounts.ts';
export { chooseWindow, type CommonWindow, type WindowAnswer, type WindowChoice } from './common-window.ts';
export {
  isTimeToAsk,
  Leads,
  WaitHistory,
  type AskingView,
  type HoldingRule,
  type LeadRule,
  type MeasuredWait,
} from './lead-rule.ts';
