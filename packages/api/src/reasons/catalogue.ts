import type { ReasonCode, GetReason } from '@mutirao/core/reasons';
import type { Instant } from '@mutirao/core/shared';

/** How a reader wants parts of a sentence written. */
export interface Wording {
  readonly instant: (at: Instant) => string;
}

/** The sentence for each code. A code without one does not compile. */
export type Catalogue = {
  readonly [Code in ReasonCode]: (reason: GetReason<Code>, wording: Wording) => string;
};
