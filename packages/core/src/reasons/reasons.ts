import { explanationReasons } from './explanation-reasons.ts';
import { causeReasons } from './cause-reasons.ts';
import type { ReasonTable } from './parameters.ts';
import { commandFaults } from './command-faults.ts';
import { jobFaults } from './job-faults.ts';
import { providerReasons } from './provider-reasons.ts';
import { quotaFaults } from './quota-faults.ts';
import { requirementFaults } from './requirement-faults.ts';
import { requestReasons } from './request-reasons.ts';
import { reservationFaults } from './reservation-faults.ts';
import { reservationReasons } from './reservation-reasons.ts';
import { resumptionReasons } from './resumption-reasons.ts';
import { taskReasons } from './task-reasons.ts';
import { waitingReasons } from './waiting-reasons.ts';
import { workflowFaults } from './workflow-faults.ts';

/** A reason of another release, whose code or parameters this one does not know. */
const foreignReasons = { 'unknown-reason': { reasonCode: 'text', words: 'text' } } as const satisfies ReasonTable;

/** Why something is refused: the sentences of these stand in errors. */
export const faultTable = {
  ...reservationFaults,
  ...quotaFaults,
  ...jobFaults,
  ...workflowFaults,
  ...commandFaults,
  ...requirementFaults,
};

/** Parts of sentences, which other reasons carry as their cause. */
export const causeTable = { ...causeReasons, ...reservationReasons, ...resumptionReasons };

/** The stable name of a fault. */
export type FaultCode = keyof typeof faultTable;

/** Every code of a reason with its parameters. The catalogue of the API has the sentence for each. */
export const reasonTable = {
  ...requestReasons,
  ...providerReasons,
  ...explanationReasons,
  ...taskReasons,
  ...waitingReasons,
  ...causeTable,
  ...faultTable,
  ...foreignReasons,
};

/** The stable name of a reason. */
export type ReasonCode = keyof typeof reasonTable;

type GetValue<Kind> = Kind extends 'number' | 'number?'
  ? number
  : Kind extends 'text' | 'text?'
    ? string
    : Kind extends 'flag'
      ? boolean
      : Kind extends 'texts'
        ? readonly string[]
        : Kind extends 'cause'
          ? Cause
          : Kind extends readonly (infer Word)[]
            ? Word
            : never;

/** The reason of one code, by its row of the table. */
type ReasonOfRow<Code, Row> = { readonly code: Code } & {
  readonly [Name in keyof Row as Row[Name] extends `${string}?` ? never : Name]: GetValue<Row[Name]>;
} & { readonly [Name in keyof Row as Row[Name] extends `${string}?` ? Name : never]?: GetValue<Row[Name]> };

/** A reason with one of these codes. */
export type GetReason<Code extends ReasonCode> = {
  [One in Code]: ReasonOfRow<One, (typeof reasonTable)[One]>;
}[Code];

/**
 * Why something was done, or was not: a code and its parameters. Programs compare these; people read the sentence that
 * the catalogue makes of them.
 */
export type Reason = GetReason<ReasonCode>;

/**
 * Why something happened, as far as it is known: a typed reason, or the words of a person or of another program. Empty
 * words for no reason.
 */
export type Cause = Reason | string;

/** Why something is refused. */
export type Fault = GetReason<FaultCode>;

/** A refusal: a code of the error registry, and the reason, with the value found and the one expected. */
export interface Refusal {
  readonly code: string;
  readonly fault: Fault;
}
