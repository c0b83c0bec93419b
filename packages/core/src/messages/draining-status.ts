import type { Instant } from '../shared/index.ts';

/** That a provider's owner drains it: it takes no new work, and what runs there ends by itself. A level: it replaces the one before. */
export interface DrainingStatus {
  /** By the clock of whoever holds it. */
  readonly since: Instant;
  /** The owner's words, a part of a sentence; may be empty. */
  readonly reason: string;
  /** What runs is given back, too; left out where it ends by itself. */
  readonly isAtOnce?: true;
}
