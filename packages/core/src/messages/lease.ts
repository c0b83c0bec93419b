import type { ResourceRequest } from '../resources/index.ts';
import type { Duration, IndexRange, ProcessorCount } from '../shared/index.ts';
import type { StartReplicas } from './machine.ts';

/**
 * Ready tasks that a provider may go on with by itself while its broker is away. A level: it replaces the one before.
 *
 * With no groups there is nothing to start, but what machines report is kept all the same.
 */
export interface Lease {
  /** Counts from 1 between a broker and a provider. */
  readonly sequence: number;
  /** For how long after the broker went away replicas of it may be started. */
  readonly horizon: Duration;
  readonly groups: readonly LeaseGroup[];
  /** Identities of machines that were caught and get nothing of it; left out where there are none. */
  readonly quarantined?: readonly string[];
}

/** Leased replicas that share all but their values. */
export interface LeaseGroup {
  /** As a machine would get them, in the order in which to start them. */
  readonly start: StartReplicas;
  /** A requirements expression; empty holds everywhere. */
  readonly requirements: string;
  /** How long one of them is known to need; 0 if that is unknown. */
  readonly taskTime: Duration;
}

/** A lease without what only machines need to know. */
export interface LeaseOutline {
  readonly sequence: number;
  readonly horizon: Duration;
  readonly groups: readonly LeaseOutlineGroup[];
  /** As in the lease. */
  readonly quarantined?: readonly string[];
}

/** A group of a lease in outline. */
export interface LeaseOutlineGroup {
  /** Replica ids, in the order in which to start them. */
  readonly replicas: readonly IndexRange[];
  readonly processors: ProcessorCount;
  /** What each holds in addition; left out for nothing. */
  readonly resources?: ResourceRequest;
  readonly requirements: string;
  readonly taskTime: Duration;
  /** Some of them need files before they start. */
  readonly hasInputs: boolean;
}
