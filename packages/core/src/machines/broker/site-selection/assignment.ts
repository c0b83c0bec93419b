import type { Cause, GetReason } from '../../../reasons/index.ts';
import type { Instant, ProviderId, TaskIndex } from '../../../shared/index.ts';

/** Where one task is placed, as it goes into the journal. */
export interface SiteAssignment {
  readonly taskIndex: TaskIndex;
  /** Empty where it goes back to those that have no place. */
  readonly providerId: ProviderId;
  readonly startsBy?: Instant;
  readonly reason: Cause;
}

/** Where one task is placed by choice among resources. */
export interface ChosenPlacing extends SiteAssignment {
  readonly reason: GetReason<'site-chosen'>;
}
