import {
  type AllocationRequest,
  type ClaimedReservation,
  type Demand,
  type DrainingStatus,
  type Provisioning,
  type MachineFacts,
  nameReservation,
  type QueueListing,
  type RequestReservation,
  type RequestStatus,
  type ReservedStatus,
  type ReservedWindow,
  type ResourceLimits,
  type TaskTimes,
} from '../../messages/index.ts';
import type { Reason } from '../../reasons/index.ts';
import {
  heuristicDefaults,
  type BudgetLeft,
  type HeuristicOptions,
  type RequestCandidate,
  type RequestFacts,
  type RequestHeuristic,
  type TaskGroup,
} from '../../requests/index.ts';
import type { Slot } from '../../resources/index.ts';
import type { LeadRule, MeasuredWait } from '../../reservations/index.ts';
import type {
  Bytes,
  Duration,
  Instant,
  MachineId,
  ProcessorCount,
  ProviderId,
  ReplicaId,
  RequestId,
  UserId,
} from '../../shared/index.ts';
import type { SpooledLease, EnrolledMachine } from './spooled-lease.ts';

/** Run times of tasks, summed up; all 0 before the first ended. */
export interface MeasuredTimes {
  readonly longest: Duration;
  readonly total: Duration;
  readonly count: number;
  /** The shortest, and the sum of the squares; left out if some were measured by releases that did not report these. */
  readonly shortest?: Duration;
  readonly squares?: number;
}

/** Nothing measured yet. */
export const nothingMeasured: MeasuredTimes = { longest: 0, total: 0, count: 0 };

/** The stable name by which a broker presents itself. */
export type BrokerId = string;

/** What decides a provider's requests. */
export interface HeuristicSetting {
  /** Name of a request heuristic. */
  readonly heuristic: string;
  /** How long a task is taken to last before any was observed, 1 or more. */
  readonly defaultTime: Duration;
}

/** A heuristic that was switched to while the provider ran. */
export interface HeuristicSwitch {
  readonly to: HeuristicSetting;
  /** What the provider was started with then. */
  readonly over: HeuristicSetting;
}

/** What the first requests of a demand may be, while no run time of its tasks is known. */
export interface FirstRequestLimits {
  /** Longest walltime at first, 1 or more; doubled until it is twice what tasks have outlasted. */
  readonly walltime: Duration;
  /** Own requests that may wait beyond those that the free processors can hold, 1 or more; grows with the walltime. */
  readonly waitingMax: number;
}

/** Usual limits of the first requests. */
export const firstRequestLimits: FirstRequestLimits = { walltime: 3_600_000, waitingMax: 1 };

/** What the owner of a provider sets; the same from its start to its end. */
export interface ProviderConfig {
  readonly providerId: ProviderId;
  /** `cluster` obtains machines through allocation requests; `machines` takes those that attach by themselves. */
  readonly resourceKind: 'cluster' | 'machines';
  /** Name of a request heuristic that exists; decides, with its default time, until another is switched to. */
  readonly heuristic: string;
  readonly heuristicOptions: HeuristicOptions;
  /** Finds a request heuristic by its name; left out, among those of this release. */
  readonly findHeuristic?: (name: string) => RequestHeuristic | undefined;
  /** What a heuristic that watches the queue may ask of the manager within any hour; left out, `requestBudget`. */
  readonly perHour?: BudgetLeft;
  /** Bounds on requests while no task of a demand has ended; left out where there are none. */
  readonly firstRequests?: FirstRequestLimits;
  /** The user that the resource manager knows the requests by. */
  readonly userId: UserId;
  /**
   * A running allocation is released after this time without demand, and a queued request withdrawn after this time
   * without need for it.
   */
  readonly idleRelease: Duration;
  /** A machine whose agent is away for longer is lost. */
  readonly agentGrace: Duration;
  /** The same after a start of the provider: agents dial again less and less often while it is away. */
  readonly restartGrace: Duration;
  /** The demand of a broker that is away for longer is nothing. */
  readonly brokerGrace: Duration;
  /** Pause after the first refusal; doubles with each further one. */
  readonly refusalPause: Duration;
  readonly refusalPauseMax: Duration;
  /**
   * After this many failures in a row the resource is only probed, with pauses of `probeInterval`, until new demand
   * comes up.
   */
  readonly refusalsMax: number;
  /** Longer than `refusalPauseMax`. */
  readonly probeInterval: Duration;
  /** Pause before a release that failed is tried again. */
  readonly releaseRetry: Duration;
  /**
   * How long after its walltime an allocation is believed in while its manager cannot be asked; the credential of its
   * agents ends then.
   */
  readonly credentialGrace: Duration;
  /** Requests that ended and are still reported; older ones are forgotten. */
  readonly endedRequestsMax: number;
  /** How long a broker is away before the provider goes on with what it leased. */
  readonly standbyAfter: Duration;
  /** Most bytes of reports that are kept for brokers that are away; with more, agents wait. */
  readonly keptBytesMax: Bytes;
  /** When allocations for reservations are asked for, to be held until these begin; left out where none are. */
  readonly holding?: LeadRule;
}

/** Usual settings, all but the provider's name. */
export const providerDefaults: Omit<ProviderConfig, 'providerId'> = {
  resourceKind: 'cluster',
  heuristic: 'finish',
  heuristicOptions: heuristicDefaults,
  userId: 'mutirao',
  idleRelease: 10_000,
  agentGrace: 5_000,
  restartGrace: 10_000,
  brokerGrace: 300_000,
  refusalPause: 2_000,
  refusalPauseMax: 300_000,
  refusalsMax: 8,
  probeInterval: 3_600_000,
  releaseRetry: 5_000,
  credentialGrace: 600_000,
  endedRequestsMax: 100,
  standbyAfter: 5_000,
  keptBytesMax: 1024 ** 3,
};

/** What a heuristic decided when it compared candidates. */
export interface ComparedDecision {
  readonly at: Instant;
  readonly heuristic: string;
  /** The chosen ones first. */
  readonly candidates: readonly RequestCandidate[];
  /** The deciding one first. */
  readonly reasons: readonly Reason[];
}

/**
 * An allocation request as its owner keeps it. Fields marked *seen* are observations of the moment; the others are
 * promised state
 * and change through `apply` alone.
 */
export interface OwnRequest {
  readonly requestId: RequestId;
  /**
   * Whose demand made it; its machines are offered to that broker. Empty where it is held for a reservation that no
   * broker has shown yet.
   */
  brokerId: BrokerId;
  readonly userId: UserId;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** Left out for one of single processors. */
  readonly slot?: Slot;
  readonly heuristic: string;
  /** The deciding one first; the end adds one. */
  reasons: readonly Reason[];
  /** What the heuristic compared; undefined for one that compares nothing. */
  readonly candidates: readonly RequestCandidate[] | undefined;
  /** The reservation that it will run inside; left out for one outside reservations. */
  reservation?: ClaimedReservation;
  /**
   * The reservation for which it was asked ahead and is held, as it was then, to its end now; left out for any other.
   */
  heldFor?: ReservedWindow;
  /** Its reservation ends earlier than the request; left out if it does not. */
  isShortened?: true;
  /** It has moved since: the dates of `reservation` are those that the manager listed, and not those of its claim. */
  hasMoved?: true;
  /**
   * Why its reservation can no longer be used, as the manager reported when the request ended; left out before, and if
   * it ended otherwise.
   */
  overCode?: string;
  /** Why its manager ended it; left out before, and if the end was requested or had another cause. */
  endCode?: string;
  status: RequestStatus;
  /** Empty until the manager accepted it or listed it. */
  managerRequestId: string;
  /** 0 until it happens, as the two below. */
  submittedAt: Instant;
  startedAt: Instant;
  endedAt: Instant;
  /**
   * The latest start that it was promised, as the first listing with it showed; left out if none did, and if its
   * heuristic does not watch the queue.
   */
  promisedStart?: Instant;
  /** Why it was released; left out while it is wanted. */
  releaseReason?: Reason;
  /** When it was released because nothing ran in it, if it had completed no task; left out for any other. */
  unusedAt?: Instant;
  /** A machine of it has attached at some time. */
  hasServed: boolean;
  /** Its agents may hold replicas of a former journal of its broker; left out where they cannot. */
  isForeign?: true;
  /** Run time of the tasks that it completed. */
  taskTime: Duration;
  /** Seen: when the status was last seen at the manager. */
  seenAt: Instant;
  /**
   * Seen: since when it is unknown whether the manager has it; 0 unless `status` is `submitting` and the call gave no
   * answer.
   */
  unknownSince: Instant;
  /** Seen: good listings in a row that lacked it. */
  missedListings: number;
  /**
   * Seen: good listings in a row that showed it as waiting although it had started; left out where the last one did
   * not.
   */
  waitingListings?: number;
  /** Seen: when its release was last asked for; 0 when never. */
  releaseAskedAt: Instant;
}

/** What was reported to a broker about the resource, and when. */
export interface ResourceReported {
  readonly at: Instant;
  /** Equal as long as nothing changed but time. */
  readonly sign: string;
}

/** Why a heuristic that watches the queue must decide. */
export type Trigger = NonNullable<RequestFacts['trigger']>;

/** What a heuristic that watches the queue was asked for a broker, and when it is asked next. */
export interface QueueWatch {
  /** Why it must decide; undefined while there is no reason. */
  trigger: Trigger | undefined;
  /** When it was last asked; 0 before, as the two below. */
  askedAt: Instant;
  /** The demand then. */
  demand: Demand | undefined;
  /** Tasks of it that had ended then. */
  endedCount: number;
  /** When it decides again though nothing happened; Infinity for never. */
  reviewAt: Instant;
  /** What it said. */
  reasons: readonly Reason[];
}

/** It is asked as soon as it can be. */
function beginWatch(): QueueWatch {
  return { trigger: 'own', askedAt: 0, demand: undefined, endedCount: 0, reviewAt: Infinity, reasons: [] };
}

/**
 * A broker that has connected at some time. Its name and instance, `demandFrom`, `taskTimes` and what says so are
 * promised state; the rest is seen.
 */
export interface KnownBroker {
  readonly brokerId: BrokerId;
  /**
   * Names the journal that it speaks for: its replica ids mean nothing to another journal of a broker with the same
   * name. Empty until one was named.
   */
  instance: string;
  /** Number of the first request that its present demand made, or will make; 0 without demand. */
  demandFrom: number;
  /** Run times of the tasks that its requests completed since then. */
  taskTimes: MeasuredTimes;
  /**
   * Promised state: how long tasks of its demand ran that did not end within their requests; `taskGroupsMax` at most,
   * the longest first.
   */
  cutOff: readonly TaskGroup[];
  /** What was asked of a heuristic that watches the queue, and is next. */
  watch: QueueWatch;
  /** Number of its open stream; 0 while it is away. */
  connectionId: number;
  /** When it went away; 0 while it is there. */
  awaySince: Instant;
  /** All its machines have been reported on this connection. */
  isSynced: boolean;
  /** Undefined until it was received on this connection; that of the last connection while the broker is away. */
  demand: Demand | undefined;
  /** Since when its demand is known to be nothing; 0 while it is not. */
  idleSince: Instant;
  /** Promised state: what it leased last; undefined before the first. */
  lease: SpooledLease | undefined;
  /** Promised state: since when the provider goes on alone in its place; 0 while it does not. */
  standbySince: Instant;
  /** Since when running allocations cover all its demand; 0 while they do not, or while that is unknown. */
  coveredSince: Instant;
  /**
   * Number of the first request that may have been made since its demand was received: the demand does not account for
   * it.
   */
  demandRequest: number;
  /**
   * Processors of requests that existed when its demand was received and have ended since: tasks that they had room for
   * have no place now.
   */
  endedProcessors: ProcessorCount;
  /** Connection on which it last sent its lease. */
  leaseConnectionId: number;
  /** Its lease was confirmed to it: the lease is stored, and nothing of earlier ones can come back. */
  isLeaseConfirmed: boolean;
  /** The status of the reservations that it demands something inside of, as last reported on this connection. */
  statusesReported: readonly ReservedStatus[];
  /** It needs the resource's status. */
  takesResource: boolean;
  /** The last report on this connection of the resource; undefined before. */
  resourceReported: ResourceReported | undefined;
  /** When the next report of it is due without any input; Infinity if only an input makes it due. */
  resourceDue: Instant;
}

/** A broker that is away and of which nothing else is known. */
export function createBroker(brokerId: BrokerId, awaySince: Instant): KnownBroker {
  return {
    brokerId,
    instance: '',
    demandFrom: 0,
    taskTimes: nothingMeasured,
    cutOff: [],
    watch: beginWatch(),
    connectionId: 0,
    awaySince,
    isSynced: false,
    demand: undefined,
    idleSince: 0,
    coveredSince: 0,
    demandRequest: 0,
    endedProcessors: 0,
    lease: undefined,
    standbySince: 0,
    leaseConnectionId: 0,
    isLeaseConfirmed: false,
    statusesReported: [],
    takesResource: false,
    resourceReported: undefined,
    resourceDue: Infinity,
  };
}

/**
 * A GridMachine: an agent that attached and has not been given up. `facts`, `brokerId` and `isForeign` are promised
 * state, the rest is seen.
 */
export interface ProvidedMachine {
  facts: MachineFacts;
  /** The broker that it is offered to; empty for none yet. */
  brokerId: BrokerId;
  /**
   * Its agent may hold replicas of a former journal of that broker: it is not reported or used before its agent holds
   * nothing.
   */
  isForeign: boolean;
  /** Number of its agent's open stream; 0 while the agent is away. */
  attachmentId: number;
  /** When the agent went away; 0 while it is there. */
  awaySince: Instant;
  /**
   * Since when each task runs that is known to run on it. Only of allocations, and only while a heuristic that watches
   * decides.
   */
  busySince: readonly Instant[];
  /** The replicas that the agent held when it attached; while its reports are spooled here, those that it holds now. */
  held: Set<ReplicaId>;
  /** Connection of the broker that it was reported on under this attachment; 0 when it was not. */
  reportedConnectionId: number;
  /** The agent was asked to present itself again, or to let go of what it holds. */
  isReturning: boolean;
  /** What it reports is kept here, since its broker is away. */
  isKeeping: boolean;
  /** Spooled reports with broken replicas since the last replica that ended otherwise. */
  breakages: number;
  /** It gets nothing of a lease before. */
  quarantinedUntil: Instant;
  /** A report of it found no room; no later one is spooled before that one, or that one would count as delivered. */
  isFull: boolean;
}

/** A machine whose agent is away. */
export function createMachine(facts: MachineFacts, brokerId: BrokerId, awaySince: Instant): ProvidedMachine {
  return {
    facts,
    brokerId,
    isForeign: false,
    attachmentId: 0,
    awaySince,
    busySince: [],
    held: new Set(),
    reportedConnectionId: 0,
    isReturning: false,
    isKeeping: false,
    breakages: 0,
    quarantinedUntil: 0,
    isFull: false,
  };
}

/** How long an own request waited, and its promised wait if that is known. */
export interface OwnWait extends Pick<MeasuredWait, 'width' | 'wait'> {
  readonly walltime?: Duration;
  /** From its submission. */
  readonly promised?: Duration;
}

/** All that a provider knows. */
export interface ProviderState {
  readonly config: ProviderConfig;
  /**
   * Drawn once, at the provider's first start; the manager knows requests as `<instance>.<request id>`. Empty before.
   */
  instance: string;
  /** Undefined while what the provider was started with decides. */
  switched: HeuristicSwitch | undefined;
  /** When this process took over; 0 before. */
  startedAt: Instant;
  /**
   * Seen: how far the manager's clock is ahead of the provider's, as far as listings show; undefined until the first
   * since the start.
   */
  managerOffset: Duration | undefined;
  /** Undefined until first read. */
  limits: ResourceLimits | undefined;
  /** The largest number of pending requests that the resource ever allowed. */
  requestsMaxSeen: number;
  /** The last good listing; undefined until the first since the start. */
  listing: QueueListing | undefined;
  /** Why the queue cannot be read; empty when the last reading went well. */
  listingFailure: string;
  /** In the order in which they were drafted; those that ended last included. */
  readonly requests: Map<RequestId, OwnRequest>;
  nextRequestNumber: number;
  readonly brokers: Map<BrokerId, KnownBroker>;
  readonly machines: Map<MachineId, ProvidedMachine>;
  /** Reports that brokers have not acknowledged, of machines that may be gone; the runs of an agent in their order. */
  readonly kept: Map<string, EnrolledMachine>;
  /** Sum over `kept`. */
  keptBytes: Bytes;
  /** Run times of all tasks that its machines completed. */
  taskTimes: MeasuredTimes;
  /** Refusals in a row, and requests in a row that ended without a machine. */
  refusals: number;
  emptyAllocationStreak: number;
  /** Allocations in a row whose agents attached, and that ended at once without the end of a task. */
  barren: number;
  /** Nothing is submitted before. */
  pausedUntil: Instant;
  /** Why nothing more is asked for now, or what was asked for last. */
  resourceStatus: readonly Reason[];
  /** Seen: when candidates were compared last, in this life; undefined before. */
  lastDecision: ComparedDecision | undefined;
  /** Promised state: what the owner asked for when draining the provider; undefined while it takes work. */
  draining: DrainingStatus | undefined;
  /** Seen: why everything is given back, since the process is about to end; empty while it is not. */
  givingBackReason: string;
  /** Reservations of the resource for which allocations are held, by number; empty where none are. */
  windows: Map<number, ReservedWindow>;
  /** How long ordinary requests of its own waited, the last ones, oldest first. */
  waits: OwnWait[];
  /** When a heuristic drafted requests, and gave some up, within the last hour; no more than it may within one. */
  readonly asked: { submissions: readonly Instant[]; withdrawals: readonly Instant[] };
  /** Seen: what the reservation manager said of the claims with demand, by claim; the code is empty for a good one. */
  readonly judgements: Map<string, { readonly code: string; readonly at: Instant }>;
  /**
   * Seen: reservations whose processors are due by the forecast of the last listing, by number. Until the next one they
   * stay due: a slot that is freed for one between two listings is not taken by something else.
   */
  readonly dueWindows: Map<number, ReservedWindow>;
  /** Seen: what was reported to the reservation manager on pre-acquired allocations, in this life, by reservation. */
  readonly reportedProvisioning: Map<number, Provisioning>;
  /** Seen: when the next reservations would have all that they lack, as of the last listing, by number. */
  readonly expectedStarts: Map<number, Instant>;
  /**
   * Seen: since when no task is known to run in a request and none waits for its processors; only those of which that
   * is so, while a heuristic that releases such ones decides.
   */
  readonly idleSince: Map<RequestId, Instant>;
  /** When the driver was last asked to wake it; 0 when never. */
  wakeAt: Instant;
}

/** The state of a provider that has promised nothing yet. */
export function createProviderState(config: ProviderConfig): ProviderState {
  return {
    config,
    instance: '',
    switched: undefined,
    startedAt: 0,
    managerOffset: undefined,
    limits: undefined,
    requestsMaxSeen: 0,
    listing: undefined,
    listingFailure: '',
    requests: new Map(),
    nextRequestNumber: 1,
    brokers: new Map(),
    machines: new Map(),
    kept: new Map(),
    keptBytes: 0,
    taskTimes: nothingMeasured,
    refusals: 0,
    emptyAllocationStreak: 0,
    barren: 0,
    pausedUntil: 0,
    resourceStatus: [],
    lastDecision: undefined,
    draining: undefined,
    givingBackReason: '',
    windows: new Map(),
    waits: [],
    asked: { submissions: [], withdrawals: [] },
    judgements: new Map(),
    dueWindows: new Map(),
    reportedProvisioning: new Map(),
    expectedStarts: new Map(),
    idleSince: new Map(),
    wakeAt: 0,
  };
}

/** Whether the request holds a slot at the manager, or may hold one. */
export function isPending(request: OwnRequest): boolean {
  return (
    request.status === 'drafted' ||
    request.status === 'submitting' ||
    request.status === 'queued' ||
    request.status === 'running'
  );
}

/** Whether the broker's present demand made the request. */
export function isOfDemand({ demandFrom }: KnownBroker, request: OwnRequest): boolean {
  return demandFrom > 0 && getNumber(request) >= demandFrom;
}

/** Requests are numbered in the order in which they are drafted. */
export function getNumber({ requestId }: OwnRequest): number {
  return Number(requestId.slice(1));
}

/** Whether agents of the request are welcome. */
export function isServing(request: OwnRequest): boolean {
  return isPending(request) && request.releaseReason === undefined;
}

/** Until when the agents of a running request are welcome although its manager cannot be asked. */
export function credentialEnd({ config }: ProviderState, { startedAt, walltime, seenAt }: OwnRequest): Instant {
  return Math.max(startedAt + walltime, seenAt) + config.credentialGrace;
}

/** The name that the manager gets for the request: unique over all instances of this provider. */
export function getClientRequestId(state: ProviderState, requestId: RequestId): string {
  return `${state.instance}.${requestId}`;
}

/** Run times observed so far; undefined before the first task ended. */
export function observedTaskTimes({
  taskTimes: { longest, total, count },
}: {
  readonly taskTimes: MeasuredTimes;
}): TaskTimes | undefined {
  return count === 0 ? undefined : { longest, mean: Math.round(total / count), count };
}

/** The request as it is reported to others. */
export function describeRequest(state: ProviderState, request: OwnRequest): AllocationRequest {
  const {
    requestId,
    managerRequestId,
    width,
    walltime,
    status,
    seenAt,
    submittedAt,
    startedAt,
    endedAt,
    reasons,
    heuristic,
    candidates,
    reservation,
    endCode,
    slot,
  } = request;
  return {
    providerId: state.config.providerId,
    requestId,
    managerRequestId,
    width,
    walltime,
    status,
    seenAt,
    submittedAt,
    startedAt,
    endedAt,
    reasons,
    heuristic,
    ...(slot === undefined ? {} : { slot }),
    ...(candidates === undefined ? {} : { candidates }),
    ...(reservation === undefined ? {} : { reservation: describeReservation(request, reservation) }),
    ...(endCode === undefined ? {} : { endCode }),
  };
}

function describeReservation(
  { overCode = '', hasMoved }: OwnRequest,
  reservation: ClaimedReservation,
): RequestReservation {
  const { startsAt, endsAt, amount } = reservation;
  return {
    ...nameReservation(reservation),
    overCode,
    ...(hasMoved === true ? { movedTo: { startsAt, endsAt, amount } } : {}),
  };
}
