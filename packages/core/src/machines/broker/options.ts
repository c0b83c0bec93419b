import type { PrefetchRules, QuarantineRules } from '../../bag/index.ts';
import type { Duration } from '../../shared/index.ts';

/** How a broker behaves; none of it is promised state, so a restart may change it. */
export interface BrokerOptions {
  readonly prefetch: PrefetchRules;
  readonly quarantine: QuarantineRules;
  /** How long machines of a provider that is away keep what they run before it counts as lost. */
  readonly suspectGrace: Duration;
  /** Losses and breakages after which a task is given up: it may be what takes the machines down. */
  readonly lossesMax: number;
  /** How old a replica is before idle machines get a sister of it. */
  readonly replicateAfter: Duration;
  /** How long a replica waits at a busy machine before an idle one may have its task. */
  readonly withdrawAfter: Duration;
  /** Tasks of a job that have to succeed before their times say what the others need; Infinity for what limits say alone. */
  readonly observedMin: number;
  /** How long a task that failed on a machine waits for another one. */
  readonly retryElsewhere: Duration;
  /** How long what a provider may ask for is kept for it alone; not longer than it takes to read a queue and ask. */
  readonly shareWait: Duration;
  /** Least time between two demands on one provider, but for those from or to nothing. */
  readonly demandInterval: Duration;
}

/** What a broker does unless it is told otherwise. */
export const defaultBrokerOptions: BrokerOptions = {
  prefetch: { target: 100, replicasMax: 256 },
  quarantine: { breakagesMax: 3, first: 10_000, longest: 600_000 },
  suspectGrace: 60_000,
  lossesMax: 20,
  replicateAfter: 250,
  withdrawAfter: 100,
  observedMin: 5,
  retryElsewhere: 30_000,
  shareWait: 2_000,
  demandInterval: 250,
};
