import type { Cause, ReasonCode, GetReason } from '@mutirao/core/reasons';
import type { Instant } from '@mutirao/core/shared';

/** How a reader wants parts of a sentence written. */
export interface Wording {
  readonly instant: (at: Instant) => string;
}

/** What a sentence is made with. */
export interface Speech extends Wording {
  /** A reason that is part of another; words of others as they are. */
  readonly say: (cause: Cause) => string;
}

/** The sentence for each code. A code without one does not compile. */
export type Catalogue = {
  readonly [Code in ReasonCode]: (reason: GetReason<Code>, speech: Speech) => string;
};
