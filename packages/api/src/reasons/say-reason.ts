import { reasonTable, type Cause, type Reason, type ReasonCode } from '@mutirao/core/reasons';
import { describeInstant } from '@mutirao/core/shared';

import type { Catalogue, Speech, Wording } from './catalogue.ts';
import { causeSentences } from './cause-sentences.ts';
import { explanationSentences } from './explanation-sentences.ts';
import { commandFaults } from './command-faults.ts';
import { jobFaults } from './job-faults.ts';
import { providerSentences } from './provider-sentences.ts';
import { requirementFaults } from './requirement-faults.ts';
import { requestSentences } from './request-sentences.ts';
import { quotaFaults } from './quota-faults.ts';
import { reservationFaults } from './reservation-faults.ts';
import { reservationSentences } from './reservation-sentences.ts';
import { resumptionSentences } from './resumption-sentences.ts';
import { taskSentences } from './task-sentences.ts';
import { waitingSentences } from './waiting-sentences.ts';
import { workflowFaults } from './workflow-faults.ts';

const catalogue: Catalogue = {
  ...requestSentences,
  ...providerSentences,
  ...explanationSentences,
  ...taskSentences,
  ...waitingSentences,
  ...causeSentences,
  ...reservationSentences,
  ...resumptionSentences,
  ...reservationFaults,
  ...quotaFaults,
  ...jobFaults,
  ...workflowFaults,
  ...commandFaults,
  ...requirementFaults,
};

export { describeRequirementsFault } from './requirement-faults.ts';

/** Every code, in the order of the catalogue. */
export const reasonCodes = Object.keys(reasonTable) as readonly ReasonCode[];

const inUtc: Wording = { instant: describeInstant };

/** One sentence for people, numbers rounded. */
export function sayReason(reason: Reason, wording: Wording = inUtc): string {
  // The entry of a code takes the reason of that code, which the compiler does not see through the union.
  const say = catalogue[reason.code] as (one: Reason, speech: Speech) => string;
  return say(reason, { ...wording, say: (cause) => sayCause(cause, wording) });
}

/** A typed reason as the catalogue says it, and the words of others as they are. */
export function sayCause(cause: Cause, wording: Wording = inUtc): string {
  return typeof cause === 'string' ? cause : sayReason(cause, wording);
}
