import type { Reason } from '../reasons/index.ts';
import type { NodeShape, Slot } from '../resources/index.ts';
import type { Duration, Instant, ProcessorCount, ProviderId, RequestId, UserId } from '../shared/index.ts';
import type { RequestReservation, ReservedDemand } from './reservation.ts';

/** What a broker still needs of one provider. A level: it replaces the one before. */
export interface Demand {
  /** Tasks neither finished nor expected to be done elsewhere; running ones included. */
  readonly pendingTasks: number;
  /** Processors that one task needs. */
  readonly processors: ProcessorCount;
  /** What a provider must ask for to run them; left out for one processor and nothing else. */
  readonly slot?: Slot;
  /** Processors that tasks which need another slot hold there, or will; left out for none. */
  readonly otherProcessors?: ProcessorCount;
  /** Longest and mean run time observed so far; undefined before the first end. */
  readonly taskTimeMax: Duration | undefined;
  readonly taskTimeMean: Duration | undefined;
  readonly deadline: Instant | undefined;
  readonly userId: UserId;
  /**
   * How many of the pending tasks nothing that the provider has, or has asked for, will take: for no more than those it
   * asks. Left out by
   * brokers that do not know.
   */
  readonly unplacedTasks?: number | undefined;
  /**
   * Processors of the widest gang among the unplaced tasks, which it needs at once; each of its processors counts as a
   * task. Left out where there is none.
   */
  readonly gangProcessors?: ProcessorCount;
  /** Left out before anything was seen, and by brokers that do not keep it. */
  readonly taskTimes?: TimeQuantiles | undefined;
  /** The longest run time that users state for a task: an estimate, else a limit. Left out where none do. */
  readonly statedTime?: Duration;
  /** Inside reservations of its resource, which all of the above leaves out; left out where nothing is wanted there. */
  readonly reserved?: readonly ReservedDemand[];
}

/** How long tasks take, by those that ended and those that were cut off. */
export interface TimeQuantiles {
  readonly count: number;
  readonly censoredCount: number;
  /** Within which a half, nine tenths and 99 of a hundred end; undefined where too many were cut off to know. */
  readonly median: Duration | undefined;
  readonly ninetieth: Duration | undefined;
  readonly ninetyNinth: Duration | undefined;
}

/** The states of an allocation request, in the order in which most live. */
export type RequestStatus = 'drafted' | 'submitting' | 'queued' | 'running' | 'ended' | 'rejected' | 'vanished';

/** A request that could be made, and what it would bring; kept with the decision, so that others can show it. */
export interface RequestCandidate {
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** When it would start, were it submitted at the decision. */
  readonly startsAt: Instant;
  /** V of this request alone: whole tasks of the estimated time per hour, counted from the decision to its end. */
  readonly throughput: number;
  readonly chosen: boolean;
}

/** An allocation request and why it is what it is. */
export interface AllocationRequest {
  readonly providerId: ProviderId;
  readonly requestId: RequestId;
  /** What the resource manager calls it; empty until submitted. */
  readonly managerRequestId: string;
  readonly width: ProcessorCount;
  /** Its width is a whole number of these; left out if only processors were asked for. */
  readonly slot?: Slot;
  readonly walltime: Duration;
  readonly status: RequestStatus;
  /** When the status was last seen at the resource manager. */
  readonly seenAt: Instant;
  /** 0 until it happens, as the two below. */
  readonly submittedAt: Instant;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  /** The deciding one first. */
  readonly reasons: readonly Reason[];
  readonly heuristic: string;
  /** What the heuristic compared, the chosen ones first; left out by one that compares nothing. */
  readonly candidates?: readonly RequestCandidate[];
  /** The reservation that it runs inside; left out for one that runs outside reservations. */
  readonly reservation?: RequestReservation;
  /** Why its resource manager ended it, a code; left out while it has not, and where its provider gave it up. */
  readonly endCode?: string;
}

/**
 * Processors of one machine of an allocation whose manager does not know nodes: each of its processors has an agent.
 */
export const processorsPerMachine: ProcessorCount = 1;

/** What a resource allows one user: maxPR, maxT_r and maxP of costa2005, and the walltime's granularity. */
export interface ResourceLimits {
  readonly processors: ProcessorCount;
  readonly requestsMax: number;
  readonly walltimeMax: Duration;
  readonly widthMax: ProcessorCount;
  /** Walltimes are whole multiples of it, 1 or more. */
  readonly walltimeGranularity: Duration;
  /**
   * Processors of the smallest node where requests hold whole nodes, however little they ask for; left out elsewhere.
   */
  readonly widthGranularity?: ProcessorCount;
  /** What requests in slots can be made of; left out by managers that give single processors. */
  readonly nodes?: readonly NodeShape[];
  /** Nodes that one request may have; left out where there is no such limit. */
  readonly nodesMax?: number;
}

/** One entry of a resource's queue as its manager lists it. */
export interface QueuedRequest {
  readonly managerRequestId: string;
  readonly userId: UserId;
  readonly width: ProcessorCount;
  /** Of which its width is a whole number; left out for any processors, and by most managers. */
  readonly slot?: Slot;
  readonly walltime: Duration;
  readonly status: 'queued' | 'running' | 'ended';
  readonly submittedAt: Instant;
  /**
   * When it started; for a queued one the latest instant that it was promised, or where the queue has a ranking, the
   * one that is planned.
   */
  readonly startsAt: Instant;
  readonly endedAt: Instant;
  readonly endReason: string;
  /** What the client called it when it asked. */
  readonly clientRequestId: string;
  /** The reservation that it runs inside; left out for one that runs outside reservations. */
  readonly reservationId?: number;
  /**
   * When it counts as submitted: of two that wait the one with the earlier goes first. Of a queued one, where the queue
   * has a ranking; left out in the order of arrival.
   */
  readonly rankedAt?: Instant;
  /**
   * Of a queued one that was promised no start: whether it waits for something other than processors, such as another
   * request, a date, a user hold or a user limit. Left out if the manager does not report it.
   */
  readonly isHeldBack?: true;
}

/**
 * How a queue that is not in the order of arrival would rank a request of the asking user (buc2020): the request counts
 * as submitted earlier by the time that `getLead` returns.
 */
export interface QueueRanking {
  /** What scores and walltimes weigh against waiting, in seconds. */
  readonly weight: number;
  readonly leadMax: Duration;
  /** The caller's, from 0 to 100. */
  readonly score: number;
}

/** Processors of a resource that are set aside for a user for a time. */
export interface ReservedWindow {
  /** The reservation manager's number for it. */
  readonly reservationId: number;
  readonly userId: UserId;
  readonly count: ProcessorCount;
  readonly startsAt: Instant;
  /** Later than `startsAt`. */
  readonly endsAt: Instant;
}

const windowFields = ['reservationId', 'userId', 'count', 'startsAt', 'endsAt'] as const;

/** Whether two windows are of one reservation, user, size and time. Undefined, for an unknown one, differs from all. */
export function isSameWindow(one: ReservedWindow | undefined, other: ReservedWindow): boolean {
  return one !== undefined && windowFields.every((name) => one[name] === other[name]);
}

/** A reservation as a resource manager honours it. */
export interface HonouredReservation extends ReservedWindow {
  /** Processors that requests inside it hold. */
  readonly usedCount: ProcessorCount;
  /** How long after its start its processors were there, or for how long they have not been; 0 before it. */
  readonly lateBy: Duration;
}

/** A reservation that a site's own manager has made for us. */
export interface SiteReservation {
  /** Of the reservation that it was made for. */
  readonly reservationId: number;
  readonly count: ProcessorCount;
  readonly startsAt: Instant;
  readonly endsAt: Instant;
}

/** A resource's queue at one instant. */
export interface QueueListing {
  readonly at: Instant;
  readonly processorsFree: ProcessorCount;
  /** Running and queued ones, and those that ended lately. */
  readonly requests: readonly QueuedRequest[];
  /** By start; left out where there are none. */
  readonly reservations?: readonly HonouredReservation[];
  /** Left out if the queue is in the order of arrival, or if the manager does not report it. */
  readonly ranking?: QueueRanking;
}

/** What a resource manager is asked for: a number of processors, for a time, and what to run on each of them. */
export interface RequestOrder {
  readonly userId: UserId;
  /** 1 to the resource's `widthMax`. */
  readonly width: ProcessorCount;
  /** Of which `width` is a whole number; left out for any processors. */
  readonly slot?: Slot;
  /** 1 to the resource's `walltimeMax`; a manager rounds it up to its granularity. */
  readonly walltime: Duration;
  /** Program and arguments, started once per processor when the request starts. Not empty. */
  readonly command: readonly string[];
  /** Added to what the manager gives by itself. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute; empty for the manager's own choice. */
  readonly workingDirectory: string;
  /**
   * Chosen by the caller: the same user and key are the same request, so that an order may be repeated; empty makes
   * each a new one.
   */
  readonly clientRequestId: string;
  /** The reservation to run inside of; left out for none. The caller has checked its claim. */
  readonly reservationId?: number;
}

/**
 * That a provider's owner drains it: it takes no new work, and what runs there ends by itself. A level: it replaces the
 * one before.
 */
export interface DrainingStatus {
  /** By the clock of the process that holds this state. */
  readonly since: Instant;
  /** The owner's words, a part of a sentence; may be empty. */
  readonly reason: string;
  /** Running replicas are given back, too; left out if they end by themselves. */
  readonly isAtOnce?: true;
}
