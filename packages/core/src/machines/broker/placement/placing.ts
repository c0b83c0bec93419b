import type { Instant, ProviderId, TaskIndex } from '../../../shared/index.ts';

/** Where one task is placed, as it goes into the journal. */
export interface Placing {
  readonly taskIndex: TaskIndex;
  /** Empty where it goes back to those that have no place. */
  readonly providerId: ProviderId;
  readonly startsBy?: Instant;
  readonly reason: string;
}
