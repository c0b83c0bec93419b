import { type PrefetchRules, quarantineDefaults, type QuarantineRules } from '../../bag/index.ts';
import { noQuotaRules, type QuotaRules } from '../../quotas/index.ts';
import type { Duration } from '../../shared/index.ts';
import {
  type ConvictionRules,
  type CredibilityRules,
  defaultConvictionRules,
  defaultCredibilityRules,
  type SpotCheckRules,
} from '../../trust/index.ts';
import type { LeaseRules } from './leases/leases.ts';

/** What a broker trusts. */
export interface TrustRules extends ConvictionRules {
  readonly credibility: CredibilityRules;
  readonly spotCheck: SpotCheckRules;
  /** Tasks of a job that may wait for votes before no new one of it is begun. */
  readonly awaitingMax: number;
}

/** How a broker places tasks that take several processors. */
export interface SiteSelectionOptions {
  /**
   * `STRATEGY[:A]` for jobs that do not say; empty or `none`, they are not placed: each goes wherever there is room.
   */
  readonly choice: string;
  /** What is known of a queue is stale when it was read longer ago. */
  readonly staleAfter: Duration;
  /** Placed tasks of a job that may wait, at most: the others are placed as these begin. */
  readonly aheadMax: number;
  /** Tasks that are placed in one step, at most. */
  readonly decisionsMax: number;
  /** How long after its expected start a waiting task is checked for a resource that would start it much sooner. */
  readonly lateAfter: Duration;
  /** How long a task is taken to run of which nothing is known. */
  readonly taskTime: Duration;
}

/** How a broker behaves; none of it is promised state, so a restart may change it. */
export interface BrokerOptions {
  readonly prefetch: PrefetchRules;
  readonly quarantine: QuarantineRules;
  readonly trust: TrustRules;
  /** How long machines of a provider that is away keep what they run before it counts as lost. */
  readonly suspectGrace: Duration;
  /**
   * How long a connected machine may take to confirm that it ended a cancelled replica, or gave one back, before the
   * task goes on without that.
   */
  readonly cancelGrace: Duration;
  /**
   * How long the broker waits for a provider that went away or is back to report what it holds, before it places the
   * provider's leased tasks and siblings of its machines' tasks.
   */
  readonly onWithin: Duration;
  /** Losses and breakages after which a task is given up: it may be what takes the machines down. */
  readonly lossesMax: number;
  /** How long the members of a gang may take to be held, their inputs staged, before it is given up. */
  readonly gangHoldMax: Duration;
  /**
   * How long a job's gangs pause after one that ended before it started; doubled with each that follows, up to the
   * second.
   */
  readonly gangPause: { readonly least: Duration; readonly most: Duration };
  /** How old a replica is before idle machines get a sibling of it. */
  readonly replicateAfter: Duration;
  /** How long a replica waits at a busy machine before an idle one may have its task. */
  readonly withdrawAfter: Duration;
  /**
   * Tasks of a job that have to succeed before their times say what the others need; Infinity for what limits say
   * alone.
   */
  readonly observedMin: number;
  /** The share of a job's tasks that have to end within what it is known to need, in (0, 1). */
  readonly needShare: number;
  /** How long a task that failed on a machine waits for another one. */
  readonly retryElsewhere: Duration;
  /** How long what a provider may ask for is kept for it alone; not longer than it takes to read a queue and ask. */
  readonly shareWait: Duration;
  /** Least time between two demands on one provider, but for those from or to nothing. */
  readonly demandInterval: Duration;
  /** How tasks are placed that take several processors. */
  readonly siteSelection: SiteSelectionOptions;
  /** What users may have at a time. */
  readonly quotas: QuotaRules;
  /** What providers go on with while the broker is away. */
  readonly lease: LeaseRules;
}

/** The default options of a broker. */
export const defaultBrokerOptions: BrokerOptions = {
  prefetch: { target: 100, replicasMax: 256 },
  quarantine: quarantineDefaults,
  trust: {
    credibility: defaultCredibilityRules,
    spotCheck: { rate: 0.05, secret: '' },
    ...defaultConvictionRules,
    awaitingMax: 10_000,
  },
  suspectGrace: 60_000,
  cancelGrace: 60_000,
  onWithin: 10_000,
  lossesMax: 20,
  gangHoldMax: 600_000,
  gangPause: { least: 250, most: 60_000 },
  replicateAfter: 250,
  withdrawAfter: 100,
  observedMin: 5,
  needShare: 0.9,
  retryElsewhere: 30_000,
  shareWait: 2_000,
  demandInterval: 250,
  siteSelection: {
    choice: '',
    staleAfter: 120_000,
    aheadMax: 1000,
    decisionsMax: 250,
    lateAfter: 600_000,
    taskTime: 3_600_000,
  },
  quotas: noQuotaRules,
  lease: { horizon: 0, replicasMax: 4096, interval: 1000, unknownPerSlot: 4 },
};
