import { explanationReasons } from './explanation-reasons.ts';
import type { ReasonOfRow, ReasonTable } from './parameters.ts';
import { providerReasons } from './provider-reasons.ts';
import { requestReasons } from './request-reasons.ts';
import { taskReasons } from './task-reasons.ts';
import { waitingReasons } from './waiting-reasons.ts';

/** A reason of another release, whose code or parameters this one does not know. */
const foreignReasons = { 'unknown-reason': { reasonCode: 'text', words: 'text' } } as const satisfies ReasonTable;

/** Every code of a reason with its parameters. The catalogue of the API has the sentence for each. */
export const reasonTable = {
  ...requestReasons,
  ...providerReasons,
  ...explanationReasons,
  ...taskReasons,
  ...waitingReasons,
  ...foreignReasons,
};

/** The stable name of a reason. */
export type ReasonCode = keyof typeof reasonTable;

/** A reason with one of these codes. */
export type GetReason<Code extends ReasonCode> = {
  [One in Code]: ReasonOfRow<One, (typeof reasonTable)[One]>;
}[Code];

/**
 * Why something was done, or was not: a code and its parameters. Programs compare these; people read the sentence that
 * the catalogue makes of them.
 */
export type Reason = GetReason<ReasonCode>;
