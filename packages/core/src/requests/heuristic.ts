import type { QueueListing, RequestCandidate, ResourceLimits, TaskTimes, TimeQuantiles } from '../messages/index.ts';
import type { AvailabilityProfile } from '../profile/index.ts';
import type { Reason } from '../reasons/index.ts';
import type { Duration, Instant, ProcessorCount, RequestId } from '../shared/index.ts';

/**
 * One of the provider's own requests that is submitted and has not ended (an element of M^p), running ones included.
 */
export interface PendingRequest {
  readonly requestId: RequestId;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  readonly status: 'submitting' | 'queued' | 'running';
  /** When it started; 0 while it has not. */
  readonly startedAt: Instant;
  /** When it was submitted; left out where that is not known. */
  readonly submittedAt?: Instant;
  /** The latest start that it was promised when it was submitted. */
  readonly promisedStart?: Instant;
  /** When it starts at the latest, by the queue as it is now; only for one that waits. */
  readonly predictedStart?: Instant;
  /**
   * Its name in the listing (`managerRequestId`), so that a decision can leave it out of the queue; left out if it is
   * not listed.
   */
  readonly listedAs?: string;
  /** Its processors that have no task; left out where that is not known. Only for one that runs. */
  readonly idle?: ProcessorCount;
  /** The tasks that run in it, those that have run longest first; left out where that is not known. */
  readonly tasks?: readonly TaskGroup[];
}

/** Tasks that have run for the same time, or nearly. */
export interface TaskGroup {
  /** 1 or more. */
  readonly count: number;
  /** How long they have run; of tasks that were joined to a group, the least. */
  readonly time: Duration;
}

/** Groups that facts hold at most for one request, or for all that was cut off; what is beyond is joined. */
export const taskGroupsMax = 16;

/** How much the completed tasks differ. */
export interface TaskSpread {
  readonly shortest: Duration;
  /** The root of the mean square of the differences from the mean. */
  readonly deviation: Duration;
}

/** The wait that a request was promised when it was submitted, and how long it took. */
export interface ObservedWait {
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** From its submission to the latest start that it was promised then; 0 or more. */
  readonly promised: Duration;
  /** From its submission to its start. */
  readonly actual: Duration;
}

/** What may still be asked of the manager within the hour; the driver of a heuristic counts it (`RequestBudget`). */
export interface BudgetLeft {
  readonly submissions: number;
  /** Withdrawals of waiting requests and releases of running ones. */
  readonly withdrawals: number;
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
  /** How many of them no present or requested machine will take; left out if that is unknown, as in the source. */
  readonly unplacedTasks?: number | undefined;
  /** Processors that one task needs, 1 or more. */
  readonly processors: ProcessorCount;
  /** Of the widest task on several machines; left out where there is none. */
  readonly gangProcessors?: ProcessorCount | undefined;
  /** The deadline that the user set, if any. */
  readonly deadline: Instant | undefined;
}

/** The queue without a listing: the simulator has its profile. */
export interface QueueView {
  /** What running and waiting requests leave free, each at the place it was promised; is read, not written. */
  readonly profile: AvailabilityProfile;
  /** |R^w|: waiting requests of all users. */
  readonly waitingCount: number;
}

/** What the source leaves open, or fixes without need. */
export interface HeuristicOptions {
  /** DEFAULT_TIME: the task time that is assumed before anything was observed. */
  readonly defaultTime: Duration;
  /**
   * Which requests would fill the holes of the queue. `in-order`: at each breakpoint, in order of time, the rectangle
   * of best own
   * throughput, taken out before going on. `best-first`: the best of all breakpoints first. `maximal`: every rectangle
   * that can
   * neither start earlier, nor be wider or longer; these exclude one another.
   */
  readonly holes: 'in-order' | 'best-first' | 'maximal';
  /** How long a request for a hole is: as many whole tasks of the estimated time as fit, or all of the hole. */
  readonly holeWalltime: 'whole-tasks' | 'whole-hole';
  /** The width that the static heuristic asks for: an equal share of the pending tasks, or always the largest. */
  readonly staticWidth: 'share' | 'largest';
  /**
   * Which of the chosen requests a candidate replaces: the one whose exchange gives the greatest throughput, or the
   * first whose exchange raises it.
   */
  readonly exchange: 'best' | 'first';
}

/** All that a request heuristic may look at. */
export interface RequestFacts {
  readonly now: Instant;
  readonly limits: ResourceLimits;
  /**
   * The resource's queue as last read; from it an availability profile is built, in which processors that are neither
   * free nor held
   * by a listed request are taken.
   */
  readonly listing: QueueListing;
  /** Replaces the listing if it is given. */
  readonly queue?: QueueView;
  /** M^p, in the order in which they were drafted. */
  readonly pending: readonly PendingRequest[];
  /** Own requests that ended, oldest first; the provider keeps the latest ones only. */
  readonly served: readonly ServedRequest[];
  readonly demand: RequestDemand;
  /** Undefined before the first task ended. */
  readonly taskTimes: TaskTimes | undefined;
  /** What tasks of the demand took at other resources; used until one has ended at this one. */
  readonly taskTimesElsewhere?: TimeQuantiles | undefined;
  /**
   * Whether nothing has been asked for on behalf of this demand; left out, it is so when no request is pending or
   * served.
   */
  readonly isFirst?: boolean;
  /** Left out, `heuristicDefaults`. */
  readonly options?: HeuristicOptions;
  /**
   * Why it is decided now: something of the own requests or tasks, something of others in the queue, or an instant that
   * an earlier
   * decision asked for (`reviewAt`). Left out where that is not known.
   */
  readonly trigger?: 'own' | 'queue' | 'review';
  /** Left out before the first task ended, and where it is not known. */
  readonly taskSpread?: TaskSpread | undefined;
  /** How much longer running tasks may have run than `pending` says, apart from those that have ended. Left out, 0. */
  readonly taskAgeError?: Duration;
  /**
   * Tasks that did not end within their requests: how long they ran until these ended or were released, the longest
   * first; `taskGroupsMax` at most.
   */
  readonly cutOff?: readonly TaskGroup[];
  /**
   * The longest time that a request of the demand held its processors, until its walltime ended, without completing a
   * task: a task may take that long to run in it. Left out if there was none, or it is not known.
   */
  readonly idleHeldTime?: Duration;
  /**
   * When the last own request of the demand was released in which no task had begun; left out if there was none, or it
   * is not known.
   */
  readonly unusedAt?: Instant;
  /** Waits of requests of this resource that have started, own ones first of all; the latest last. */
  readonly waits?: readonly ObservedWait[];
  /** Left out, without bound. */
  readonly budget?: BudgetLeft;
  /**
   * How far the listing can be trusted: `hidden` if it shows only own requests or none, `stale` if it could not be read
   * again. Left out, it is complete.
   */
  readonly listingState?: 'complete' | 'hidden' | 'stale';
  /**
   * For how long processors are taken to be held that are neither free nor held by a listed request; left out, the
   * longest walltime.
   */
  readonly unlistedTime?: Duration;
}

/** A request that a heuristic drafts for submission. */
export interface DraftedRequest {
  /** In 1 .. `limits.widthMax`. */
  readonly width: ProcessorCount;
  /** A multiple of `limits.walltimeGranularity`, at most `limits.walltimeMax`. */
  readonly walltime: Duration;
  /** The deciding one first. */
  readonly reasons: readonly Reason[];
}

/**
 * An own request that a heuristic no longer needs: withdrawn while it waits, released while it runs (its tasks run
 * again elsewhere).
 */
export interface GivenUpRequest {
  /** Of a pending request. */
  readonly requestId: RequestId;
  /** The deciding one first. */
  readonly reasons: readonly Reason[];
}

/** The decision of a heuristic; `reasons` say why, also if it drafts nothing. */
export interface RequestDecision {
  /** Own requests to be given up before the drafts are submitted; left out for none. Within the budget. */
  readonly givenUp?: readonly GivenUpRequest[];
  /** When to decide again though nothing happened; left out, never. The driver waits for `reviewPauseMin` at least. */
  readonly reviewAt?: Instant;
  /** At most `limits.requestsMax` less the pending ones that are not given up; within the budget. */
  readonly drafts: readonly DraftedRequest[];
  readonly reasons: readonly Reason[];
  /**
   * The chosen ones, before they were scaled, then the best of the others; left out by heuristics that compare none.
   */
  readonly candidates?: readonly RequestCandidate[];
  /** E(T); left out by heuristics that estimate none. */
  readonly taskTimeEstimate?: Duration;
}

/** The least time between a decision and the review that it asked for. */
export const reviewPauseMin: Duration = 1000;

/**
 * Chooses the width and the walltime of allocation requests (costa2005, chapter 3). Pure: the same facts, the same
 * decision.
 */
export interface RequestHeuristic {
  /** Its name in configuration and records. */
  readonly name: string;
  /**
   * When it decides. `ends`, if left out, is costa2005's: when there is demand, and whenever an own request has ended.
   * `queue events`: also whenever processors of the resource were freed, when an own request has started, when
   * completed tasks have become a quarter more, and at `reviewAt`; at most once at an instant, whether or not a slot is
   * free.
   */
  readonly decidesAt?: 'ends' | 'queue events';
  /**
   * Whether a running request must be released as soon as it has no task and none waits for a processor; otherwise it
   * is held until its end, or as the driver is configured.
   */
  readonly releasesIdle?: boolean;
  /**
   * Whether it is meant for tasks that are known to be long, so that its first requests are not kept small by a
   * provider; left out, it is not.
   */
  readonly expectsLongTasks?: boolean;
  draft(facts: RequestFacts): RequestDecision;
}
