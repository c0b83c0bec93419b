import type { QueueListing, ResourceLimits, TaskTimes } from '../messages/index.ts';
import type { Duration, Instant, ProcessorCount, RequestId } from '../shared/index.ts';

/** One of the provider's own requests that is submitted and has not ended (an element of M^p), running ones included. */
export interface PendingRequest {
  readonly requestId: RequestId;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  readonly status: 'submitting' | 'queued' | 'running';
  /** When it started; 0 while it has not. */
  readonly startedAt: Instant;
}

/** One of the provider's own requests that has held its processors and ended. */
export interface ServedRequest {
  readonly requestId: RequestId;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  /** Run time of the tasks that it completed, all its processors together. */
  readonly taskTime: Duration;
}

/** What tasks a heuristic asks processors for. */
export interface RequestDemand {
  /** |T^p|: tasks not done, running ones included. */
  readonly pendingTasks: number;
  /** Processors that one task needs, 1 or more. */
  readonly processors: ProcessorCount;
  /** When the user wants it done, where she said so. */
  readonly deadline: Instant | undefined;
}

/** All that a request heuristic may look at. */
export interface RequestFacts {
  readonly now: Instant;
  readonly limits: ResourceLimits;
  /** The resource's queue as last read; from it an availability profile is built. */
  readonly listing: QueueListing;
  /** M^p, in the order in which they were drafted. */
  readonly pending: readonly PendingRequest[];
  /** Own requests that ended, oldest first; the provider keeps the latest ones only. */
  readonly served: readonly ServedRequest[];
  readonly demand: RequestDemand;
  /** Undefined before the first task ended. */
  readonly taskTimes: TaskTimes | undefined;
}

/** A request that a heuristic wants submitted. */
export interface DraftedRequest {
  /** In 1 .. `limits.widthMax`. */
  readonly width: ProcessorCount;
  /** A multiple of `limits.walltimeGranularity`, at most `limits.walltimeMax`. */
  readonly walltime: Duration;
  /** Sentences, first the deciding one. */
  readonly reasons: readonly string[];
}

/** What a heuristic decided; `reasons` say why, also where it drafts nothing. */
export interface RequestDecision {
  /** At most `limits.requestsMax` less the pending ones. */
  readonly drafts: readonly DraftedRequest[];
  readonly reasons: readonly string[];
}

/** Chooses the width and the walltime of allocation requests (costa2005, chapter 3). Pure: the same facts, the same decision. */
export interface RequestHeuristic {
  /** Its name in configuration and records. */
  readonly name: string;
  draft(facts: RequestFacts): RequestDecision;
}
