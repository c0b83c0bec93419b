import {
  groupTasks,
  type BudgetLeft,
  type ObservedWait,
  type PendingRequest,
  type RequestFacts,
  type TaskSpread,
} from '../../requests/index.ts';
import type { QueuedRequest, QueueListing } from '../../messages/index.ts';
import type { Duration, Instant, ProcessorCount, RequestId } from '../../shared/index.ts';
import { budgetLeft } from './asked-lately.ts';
import { getRequests } from './brokers.ts';
import { listFacts, getPending, type Resource } from './decision-facts.ts';
import { countBusy, slotFor, widthOfTasks } from './slots.ts';
import { isSameSlot } from '../../resources/index.ts';
import { getListingState } from './listing-state.ts';
import {
  getClientRequestId,
  isOfDemand,
  isServing,
  type KnownBroker,
  type OwnRequest,
  type ProvidedMachine,
  type ProviderState,
} from './state.ts';
import type { Turn } from './turn.ts';

/** How often the state machine gets measured task times, and how long tasks have run. */
export const measureInterval: Duration = 2_000;

/** The broker that the heuristic decides for, and its share of the slots and of the budget. */
interface Asker {
  readonly broker: KnownBroker;
  /** Free slots that it may use; less than 0 where more requests are there than may be by now. */
  readonly slots: number;
  /** Brokers that are asked for in this step and were not yet, itself included. */
  readonly sharers: number;
}

/**
 * What a heuristic that watches the queue may look at: its own requests are the broker's alone, those of other brokers
 * are others' in the queue.
 *
 * How many tasks have no place is left out: it weighs itself what those places are worth. Cost: O(listed + machines).
 */
export function watchedFacts(turn: Turn, resource: Resource, { broker, slots, sharers }: Asker): RequestFacts {
  const { state, now } = turn;
  const facts = listFacts(turn, resource, broker);
  const promises = listPromises(state, resource.listing);
  const machines = machinesByRequest(state);
  const { demand } = broker;
  const slot = demand === undefined ? undefined : slotFor(demand, resource.limits);
  const own = getRequests(state, broker.brokerId).filter(
    (request) => isServing(request) && isSameSlot(request.slot, slot),
  );
  const pending = own.map((request) =>
    watchedRequest(turn, request, {
      predicted: promises.get(request.requestId),
      machines: machines.get(request.requestId) ?? [],
      taskWidth: widthOfTasks(request, demand),
    }),
  );
  const [spread, unusedAt] = [getSpread(broker), findUnusedAt(state, broker)];
  return {
    ...facts,
    limits: { ...resource.limits, requestsMax: Math.max(0, pending.length + slots) },
    pending,
    taskAgeError: measureInterval,
    cutOff: broker.cutOff,
    waits: listWaits(state),
    budget: getBudget(turn, broker, sharers),
    listingState: getListingState(state, facts.listing, now),
    ...(broker.watch.trigger === undefined ? {} : { trigger: broker.watch.trigger }),
    ...(spread === undefined ? {} : { taskSpread: spread }),
    ...(unusedAt === undefined ? {} : { unusedAt }),
  };
}

/** Nothing is given up while the manager is unreachable, nor while the broker is away. */
function getBudget({ state, now }: Turn, { connectionId }: KnownBroker, sharers: number): BudgetLeft {
  const { submissions, withdrawals } = budgetLeft(state, now);
  const mayGiveUp = state.listingFailure === '' && connectionId !== 0;
  return {
    submissions: Math.ceil(submissions / sharers),
    withdrawals: mayGiveUp ? Math.ceil(withdrawals / sharers) : 0,
  };
}

/** When own requests start at the latest, by the listing. */
function listPromises(state: ProviderState, { requests }: QueueListing): Map<RequestId, QueuedRequest> {
  const prefix = getClientRequestId(state, '');
  return new Map(
    requests
      .filter(({ clientRequestId }) => clientRequestId.startsWith(prefix))
      .map((entry) => [entry.clientRequestId.slice(prefix.length), entry]),
  );
}

function machinesByRequest({ machines }: ProviderState): Map<RequestId, ProvidedMachine[]> {
  const byRequest = new Map<RequestId, ProvidedMachine[]>();
  for (const machine of machines.values()) {
    const { requestId } = machine.facts;
    const others = byRequest.get(requestId);
    if (others === undefined) byRequest.set(requestId, [machine]);
    else others.push(machine);
  }
  return byRequest;
}

function watchedRequest(
  { now }: Turn,
  request: OwnRequest,
  {
    predicted,
    machines,
    taskWidth,
  }: {
    readonly predicted: QueuedRequest | undefined;
    readonly machines: readonly ProvidedMachine[];
    readonly taskWidth: ProcessorCount;
  },
): PendingRequest {
  const { managerRequestId, submittedAt, promisedStart, status, width } = request;
  const isPredicted = status === 'queued' && predicted?.status === 'queued' && predicted.startsAt > 0;
  const busy = machines.reduce((sum, machine) => sum + countBusy(machine, taskWidth), 0);
  return {
    ...getPending(request),
    ...(submittedAt === 0 ? {} : { submittedAt }),
    ...(managerRequestId === '' ? {} : { listedAs: managerRequestId }),
    ...(promisedStart === undefined ? {} : { promisedStart }),
    ...(isPredicted ? { predictedStart: predicted.startsAt } : {}),
    ...(status === 'running'
      ? {
          idle: Math.max(0, width - busy),
          tasks: groupTasks(machines.flatMap(({ busySince }) => busySince.map((at) => Math.max(0, now - at)))),
        }
      : {}),
  };
}

function getSpread({ taskTimes: { count, total, shortest, squares } }: KnownBroker): TaskSpread | undefined {
  if (count === 0 || shortest === undefined || squares === undefined) return undefined;
  const mean = total / count;
  return { shortest, deviation: Math.ceil(Math.sqrt(Math.max(0, squares / count - mean * mean))) };
}

/** When the last request of this demand was released that had completed nothing. */
function findUnusedAt(state: ProviderState, broker: KnownBroker): Instant | undefined {
  const instants = getRequests(state, broker.brokerId).flatMap((request) =>
    isOfDemand(broker, request) ? (request.unusedAt ?? []) : [],
  );
  return instants.length === 0 ? undefined : Math.max(...instants);
}

function listWaits({ waits }: ProviderState): ObservedWait[] {
  return waits.flatMap(({ width, wait, walltime, promised }) =>
    walltime === undefined || promised === undefined ? [] : [{ width, walltime, promised, actual: wait }],
  );
}
