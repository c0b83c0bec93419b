import type { QueueListing, RequestCandidate, ResourceLimits, TaskTimes, TimeQuantiles } from '../messages/index.ts';
import type { AvailabilityProfile } from '../profile/index.ts';
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
  /** How many of them nothing that is there, or asked for, will take; left out where that is not known, as in the source. */
  readonly unplacedTasks?: number | undefined;
  /** Processors that one task needs, 1 or more. */
  readonly processors: ProcessorCount;
  /** When the user wants it done, where she said so. */
  readonly deadline: Instant | undefined;
}

/** The queue as one sees it who need not read a listing: the simulator, which keeps the profile. */
export interface QueueView {
  /** What running and waiting requests leave free, each at the place it was promised; is read, not written. */
  readonly profile: AvailabilityProfile;
  /** |R^w|: requests of anybody that wait. */
  readonly waitingCount: number;
}

/** What the source leaves open, or fixes without need. */
export interface HeuristicOptions {
  /** DEFAULT_TIME: the task time that is assumed before anything was observed. */
  readonly defaultTime: Duration;
  /**
   * Which requests would fill the holes of the queue. `in-order`: at each breakpoint, in order of time, the rectangle of best own
   * throughput, taken out before going on. `best-first`: the best of all breakpoints first. `maximal`: every rectangle that can
   * neither start earlier, nor be wider or longer; these exclude one another.
   */
  readonly holes: 'in-order' | 'best-first' | 'maximal';
  /** How long a request for a hole is: as many whole tasks of the estimated time as fit, or all of the hole. */
  readonly holeWalltime: 'whole-tasks' | 'whole-hole';
  /** The width that the static heuristic asks for: an equal share of the pending tasks, or always the largest. */
  readonly staticWidth: 'share' | 'largest';
}

/** All that a request heuristic may look at. */
export interface RequestFacts {
  readonly now: Instant;
  readonly limits: ResourceLimits;
  /**
   * The resource's queue as last read; from it an availability profile is built, in which processors that are neither free nor held
   * by a listed request are taken.
   */
  readonly listing: QueueListing;
  /** Stands in for the listing where it is given. */
  readonly queue?: QueueView;
  /** M^p, in the order in which they were drafted. */
  readonly pending: readonly PendingRequest[];
  /** Own requests that ended, oldest first; the provider keeps the latest ones only. */
  readonly served: readonly ServedRequest[];
  readonly demand: RequestDemand;
  /** Undefined before the first task ended. */
  readonly taskTimes: TaskTimes | undefined;
  /** What tasks of the demand took at other resources; looked at until one has ended at this one. */
  readonly taskTimesElsewhere?: TimeQuantiles | undefined;
  /** Whether nothing has been asked for on behalf of this demand; left out, it is so when no request is pending or served. */
  readonly isFirst?: boolean;
  /** Left out, `heuristicDefaults`. */
  readonly options?: HeuristicOptions;
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
  /** The chosen ones, before they were scaled, then the best of the others; left out by heuristics that compare none. */
  readonly candidates?: readonly RequestCandidate[];
  /** E(T); left out by heuristics that estimate none. */
  readonly taskTimeEstimate?: Duration;
}

/** Chooses the width and the walltime of allocation requests (costa2005, chapter 3). Pure: the same facts, the same decision. */
export interface RequestHeuristic {
  /** Its name in configuration and records. */
  readonly name: string;
  draft(facts: RequestFacts): RequestDecision;
}
