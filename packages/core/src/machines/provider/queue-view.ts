import type { QueuedRequest, QueueListing } from '../../messages/index.ts';
import type { FreeTime } from '../../profile/index.ts';
import { readQueue } from '../../requests/index.ts';
import type { Reason } from '../../reasons/index.ts';
import type { Duration, Instant, ProcessorCount, ProviderId, RequestId } from '../../shared/index.ts';
import { getListingState } from './listing-state.ts';
import { competingIn, listingWithOwn } from './listing-with-own.ts';
import { getClientRequestId, type ComparedDecision, type ProviderState } from './state.ts';

/** How well a queue is known: not at all, without others' requests, as it was, or as it is. */
export type QueueKnowledge = 'none' | 'hidden' | 'stale' | 'complete';

/** A request that runs or waits, and where it is in the profile. */
export interface ViewedRequest {
  /** May be empty for an own one that is being submitted. */
  readonly managerRequestId: string;
  /** The provider's own number for it; empty for others' requests. */
  readonly requestId: RequestId;
  readonly status: 'queued' | 'running';
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** When it started or starts; 0 where it has no place. */
  readonly startsAt: Instant;
  /** Whether the start is a forecast by the walltimes of earlier requests, and not a promise. */
  readonly isForecast: boolean;
}

/** The queue of a provider's resource as its request heuristic sees it. */
export interface ViewedQueue {
  readonly providerId: ProviderId;
  readonly knowledge: QueueKnowledge;
  /** What is unknown, and why; undefined if nothing is. */
  readonly trouble: Reason | undefined;
  readonly at: Instant;
  /** When the queue was read; 0 where it never was. */
  readonly readAt: Instant;
  readonly processors: ProcessorCount;
  /** By time, the first from `at` on, each until the next, the last for ever. */
  readonly steps: readonly { readonly from: Instant; readonly free: ProcessorCount }[];
  /** From when on further steps were left out; undefined where all are there. */
  readonly stepsUntil: Instant | undefined;
  /** Own ones first, then others' in the order of the queue. */
  readonly requests: readonly ViewedRequest[];
  /** Of all, also of those that are left out. */
  readonly runningCount: number;
  readonly waitingCount: number;
  readonly reservations: NonNullable<QueueListing['reservations']>;
  /** Undefined before there was one, and of heuristics that compare nothing. */
  readonly decision: ComparedDecision | undefined;
}

const stepsMax = 2000;
const requestsMax = 1000;

/**
 * The queue as a decision of the request heuristic would see it now: the profile of free processors, the holders of the
 * others, and the last comparison. Cost: that of reading the queue for one decision.
 */
export function viewQueue(state: ProviderState, now: Instant): ViewedQueue {
  const { config, limits, listing } = state;
  const facts = {
    providerId: config.providerId,
    at: now,
    processors: limits?.processors ?? 0,
    decision: lastDecision(state),
  };
  if (config.resourceKind === 'machines') return { ...facts, ...nothingKnown, trouble: { code: 'queue-absent' } };
  if (limits === undefined || listing === undefined) {
    return {
      ...facts,
      ...nothingKnown,
      trouble:
        state.listingFailure === ''
          ? { code: 'queue-not-read' }
          : { code: 'queue-unreadable', trouble: state.listingFailure },
    };
  }
  const whole = listingWithOwn(state, listing, now);
  const knowledge = getListingState(state, whole, now);
  const forecasts = new Map<QueuedRequest, Instant>();
  const { free } = readQueue(
    { now, limits, listing: competingIn(state, whole) },
    {
      onPlaced: (request, startsAt) => {
        forecasts.set(request, startsAt);
      },
    },
  );
  const living = whole.requests.filter(({ status }) => status !== 'ended');
  return {
    ...facts,
    knowledge,
    trouble: describeTrouble(state, knowledge),
    readAt: listing.at,
    ...listSteps(free),
    requests: viewRequests(state, living, forecasts),
    runningCount: living.filter(({ status }) => status === 'running').length,
    waitingCount: living.filter(({ status }) => status === 'queued').length,
    reservations: whole.reservations ?? [],
  };
}

const nothingKnown = {
  knowledge: 'none',
  readAt: 0,
  steps: [],
  stepsUntil: undefined,
  requests: [],
  runningCount: 0,
  waitingCount: 0,
  reservations: [],
} as const;

function describeTrouble({ listingFailure }: ProviderState, knowledge: QueueKnowledge): Reason | undefined {
  if (knowledge === 'stale') return { code: 'queue-shown-stale', trouble: listingFailure };
  return knowledge === 'hidden' ? { code: 'queue-hidden-forecast' } : undefined;
}

function listSteps(free: FreeTime): Pick<ViewedQueue, 'steps' | 'stepsUntil'> {
  const steps: { from: Instant; free: ProcessorCount }[] = [];
  for (let at = free.first; at >= 0; at = free.getNext(at)) {
    if (steps.length === stepsMax) return { steps, stepsUntil: free.startOf(at) };
    const count = free.freeOf(at);
    if (steps.at(-1)?.free !== count) steps.push({ from: free.startOf(at), free: count });
  }
  return { steps, stepsUntil: undefined };
}

function viewRequests(
  state: ProviderState,
  living: readonly QueuedRequest[],
  forecasts: ReadonlyMap<QueuedRequest, Instant>,
): ViewedRequest[] {
  const prefix = getClientRequestId(state, '');
  const viewed = living.map((request): ViewedRequest => {
    const { managerRequestId, clientRequestId, status, width, walltime, startsAt } = request;
    const forecast = forecasts.get(request);
    return {
      managerRequestId,
      requestId: clientRequestId.startsWith(prefix) ? clientRequestId.slice(prefix.length) : '',
      status: status === 'running' ? 'running' : 'queued',
      width,
      walltime,
      startsAt: forecast ?? startsAt,
      isForecast: forecast !== undefined,
    };
  });
  const own = viewed.filter(({ requestId }) => requestId !== '');
  return [...own, ...viewed.filter(({ requestId }) => requestId === '')].slice(0, requestsMax);
}

/** What was decided in this life, or else the comparison stored with the newest request that has one. */
function lastDecision({ lastDecision: decided, requests }: ProviderState): ComparedDecision | undefined {
  if (decided !== undefined) return decided;
  const newest = [...requests.values()].findLast(({ candidates = [] }) => candidates.length > 0);
  return newest === undefined
    ? undefined
    : {
        at: newest.submittedAt,
        heuristic: newest.heuristic,
        candidates: newest.candidates ?? [],
        reasons: newest.reasons,
      };
}
