import { reasonTable, type Reason, type ReasonCode } from '@mutirao/core/reasons';
import { describeInstant } from '@mutirao/core/shared';

import type { Catalogue, Wording } from './catalogue.ts';
import { explanationSentences } from './explanation-sentences.ts';
import { jobFaults } from './job-faults.ts';
import { providerSentences } from './provider-sentences.ts';
import { requestSentences } from './request-sentences.ts';
import { quotaFaults } from './quota-faults.ts';
import { reservationFaults } from './reservation-faults.ts';
import { taskSentences } from './task-sentences.ts';
import { waitingSentences } from './waiting-sentences.ts';
import { workflowFaults } from './workflow-faults.ts';

const catalogue: Catalogue = {
  ...requestSentences,
  ...providerSentences,
  ...explanationSentences,
  ...taskSentences,
  ...waitingSentences,
  ...reservationFaults,
  ...quotaFaults,
  ...jobFaults,
  ...workflowFaults,
};

/** Every code, in the order of the catalogue. */
export const reasonCodes = Object.keys(reasonTable) as readonly ReasonCode[];

const inUtc: Wording = { instant: describeInstant };

/** One sentence for people, numbers rounded. */
export function sayReason(reason: Reason, wording: Wording = inUtc): string {
  // The entry of a code takes the reason of that code, which the compiler does not see through the union.
  const say = catalogue[reason.code] as (one: Reason, wording: Wording) => string;
  return say(reason, wording);
}
