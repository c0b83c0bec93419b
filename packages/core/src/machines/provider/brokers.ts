import type { Demand } from '../../messages/index.ts';
import type { ProcessorCount } from '../../shared/index.ts';
import { endStandby, reportGone } from './standby.ts';
import { reportDraining } from './draining.ts';
import type { ProviderInput } from './inputs.ts';
import { fitsMachines, lanesOf, servesSlot } from './slots.ts';
import { chooseNeedAlone, listNeedsAlone } from './standby-demand.ts';
import { offerMachine } from './machines.ts';
import { noteInstance } from './replaced-broker.ts';
import {
  describeRequest,
  isServing,
  getNumber,
  type BrokerId,
  type KnownBroker,
  type OwnRequest,
  type ProviderState,
} from './state.ts';
import { commit, type Turn } from './turn.ts';

/** Welcomes a broker, new or back: sends it its requests and machines, then the end of the initial sync. */
export function connectBroker(
  turn: Turn,
  { brokerId, connectionId, instance = '', takesResource = false }: Extract<ProviderInput, { kind: 'BrokerConnected' }>,
): void {
  const { state, now } = turn;
  if (!state.brokers.has(brokerId)) commit(turn, { kind: 'BrokerKnown', brokerId, at: now });
  const broker = state.brokers.get(brokerId);
  if (broker === undefined) return;
  endStandby(turn, broker);
  noteInstance(turn, broker, instance);
  broker.connectionId = connectionId;
  broker.awaySince = 0;
  broker.isLeaseConfirmed = false;
  broker.isSynced = false;
  broker.statusesReported = [];
  broker.takesResource = takesResource;
  broker.resourceReported = undefined;
  broker.demand = undefined;
  broker.idleSince = 0;
  broker.coveredSince = 0;
  reportDraining(turn, brokerId);
  const requests = listAllRequests(state, brokerId).map((request) => describeRequest(state, request));
  if (requests.length > 0) turn.commands.push({ kind: 'ReportRequests', brokerId, requests });
}

/** Notes that a broker went away; its demand stands until its grace is over. */
export function disconnectBroker(turn: Turn, brokerId: BrokerId, connectionId: number): void {
  const broker = turn.state.brokers.get(brokerId);
  if (broker === undefined || broker.connectionId !== connectionId) return; // A stream that another one has replaced.
  broker.connectionId = 0;
  broker.awaySince = turn.now;
}

/** Takes a broker's new demand in place of the former one. */
export function changeDemand(turn: Turn, brokerId: BrokerId, demand: Demand): void {
  const { state, now } = turn;
  const broker = state.brokers.get(brokerId);
  if (broker === undefined || broker.connectionId === 0) return;
  // Kept over a restart, unlike the demand itself: the provider's return does not make a grant more likely.
  const isNew = broker.demandFrom === 0 && demand.pendingTasks > 0;
  broker.demand = demand;
  broker.demandRequest = state.nextRequestNumber;
  broker.endedProcessors = 0;
  noteDemand(turn, broker);
  if (isNew && state.refusals + state.emptyAllocationStreak > 0) commit(turn, { kind: 'RefusalsForgotten', at: now });
}

/** Notes the beginning and end of a demand: observations of its tasks belong to it alone. */
function noteDemand(turn: Turn, { brokerId, demand, demandFrom }: KnownBroker): void {
  const isWanting = demand !== undefined && demand.pendingTasks > 0;
  if (isWanting && demandFrom === 0) commit(turn, { kind: 'DemandBegan', brokerId, at: turn.now });
  if (!isWanting && demandFrom > 0) commit(turn, { kind: 'DemandEnded', brokerId, at: turn.now });
}

/** Whether a broker's tasks are too wide for any machine that an allocation here would have. */
export function isTooWide({ config, limits }: ProviderState, { demand }: KnownBroker): boolean {
  return (
    config.resourceKind === 'cluster' &&
    demand !== undefined &&
    demand.pendingTasks > 0 &&
    !fitsMachines(demand, limits)
  );
}

/**
 * Processors that a broker still needs: undefined while that is unknown (it has just connected, or this provider has
 * just started), 0 once it has been away for longer than its grace, and if its tasks could run on no machine of an
 * allocation; at least what a standby needs.
 */
export function wantedProcessors(turn: Turn, broker: KnownBroker): ProcessorCount | undefined {
  const alone = neededAlone(turn, broker);
  const reported = reportedProcessors(turn, broker);
  return reported === undefined && alone === 0 ? undefined : Math.max(reported ?? 0, alone);
}

/** Processors for the rest of a lease while its broker is away, and for its running replicas. */
export function neededAlone(turn: Turn, broker: KnownBroker): ProcessorCount {
  return listNeedsAlone(turn, broker).reduce((sum, { tasks, processors }) => sum + tasks * processors, 0);
}

/** The demand of a standby: tasks of one shape, those with least first. */
export function demandAlone(turn: Turn, broker: KnownBroker): Pick<Demand, 'pendingTasks' | 'processors' | 'slot'> {
  const nodes = turn.state.limits?.nodes;
  return chooseNeedAlone(listNeedsAlone(turn, broker), ({ processors, slot }) =>
    getLanes(turn.state, broker, { processors, ...(nodes === undefined || slot === undefined ? {} : { slot }) }),
  );
}

function reportedProcessors(turn: Turn, broker: KnownBroker): ProcessorCount | undefined {
  if (broker.connectionId === 0 && turn.now >= broker.awaySince + turn.state.config.brokerGrace) return 0;
  const { demand } = broker;
  if (demand === undefined) return undefined;
  const { pendingTasks, processors, otherProcessors = 0 } = demand;
  return otherProcessors + (isTooWide(turn.state, broker) ? 0 : pendingTasks * processors);
}

/**
 * Tasks that have no place: the number that the broker reported, less those that requests made since have room for,
 * plus those whose requests ended since. Undefined if the broker does not report it. A standby counts itself.
 */
export function unplacedTasks(turn: Turn, broker: KnownBroker): number | undefined {
  const { state } = turn;
  if (broker.connectionId === 0) {
    const alone = demandAlone(turn, broker);
    return Math.max(0, alone.pendingTasks - getLanes(state, broker, alone));
  }
  const { demand, demandRequest, endedProcessors } = broker;
  if (demand?.unplacedTasks === undefined) return undefined;
  // The ended requests had room for no more tasks than are pending: at most these need another place.
  const unplaced = Math.min(
    demand.unplacedTasks + Math.floor(endedProcessors / demand.processors),
    demand.pendingTasks,
  );
  return Math.max(0, unplaced - getLanes(state, broker, demand, demandRequest));
}

/**
 * Tasks of a shape that a broker's requests run at once, those that wait included. @param from number of the first that
 * counts
 */
function getLanes(
  state: ProviderState,
  { brokerId }: KnownBroker,
  { processors, slot }: Pick<Demand, 'processors' | 'slot'>,
  from = 0,
): number {
  let lanes = 0;
  for (const request of getRequests(state, brokerId))
    if (isServing(request) && getNumber(request) >= from && servesSlot(request, slot))
      lanes += lanesOf(request, processors);
  return lanes;
}

/**
 * The requests that a broker's demand made, in the order in which they were drafted; those inside reservations left
 * out.
 */
export function getRequests(state: ProviderState, brokerId: BrokerId): OwnRequest[] {
  return listAllRequests(state, brokerId).filter(({ reservation }) => reservation === undefined);
}

function listAllRequests({ requests }: ProviderState, brokerId: BrokerId): OwnRequest[] {
  return [...requests.values()].filter((request) => request.brokerId === brokerId);
}

/** Processors that a broker's running allocations hold, those that are being released left out. */
export function runningProcessors(state: ProviderState, brokerId: BrokerId): ProcessorCount {
  const running = getRequests(state, brokerId).filter((request) => request.status === 'running' && isServing(request));
  return running.reduce((sum, request) => sum + request.width, 0);
}

/**
 * Whether a broker's running allocations have fewer processors than its tasks need: in all, or counting slots that fit
 * the waiting tasks.
 */
export function lacksProcessors(turn: Turn, broker: KnownBroker): boolean {
  return (
    (wantedProcessors(turn, broker) ?? 0) > runningProcessors(turn.state, broker.brokerId) || lacksLanes(turn, broker)
  );
}

/** Whether slots of running allocations have room for fewer tasks than need such slots. */
export function lacksLanes(turn: Turn, broker: KnownBroker): boolean {
  const { state } = turn;
  const demand = broker.connectionId === 0 ? demandAlone(turn, broker) : broker.demand;
  // What the broker wanted last says nothing of what its lease needs.
  if (demand?.slot === undefined || (broker.connectionId !== 0 && isTooWide(state, broker))) return false;
  const lanes = getRequests(state, broker.brokerId)
    .filter((request) => request.status === 'running' && isServing(request) && servesSlot(request, demand.slot))
    .reduce((sum, request) => sum + lanesOf(request, demand.processors), 0);
  return demand.pendingTasks > lanes;
}

/** Notes since when each broker is known to need nothing beyond what runs. */
export function noteIdleBrokers(turn: Turn): void {
  const { state, now } = turn;
  for (const broker of state.brokers.values()) {
    const wanted = wantedProcessors(turn, broker);
    if (wanted !== 0) broker.idleSince = 0;
    else if (broker.idleSince === 0) broker.idleSince = now;
    if (wanted === undefined || lacksProcessors(turn, broker)) broker.coveredSince = 0;
    else if (broker.coveredSince === 0) broker.coveredSince = now;
  }
}

/**
 * Offers every machine to the broker that it belongs to now, then ends the initial sync of brokers that have all of
 * theirs.
 */
export function offerMachines(turn: Turn): void {
  for (const broker of turn.state.brokers.values()) if (broker.connectionId !== 0) reportGone(turn, broker);
  for (const machine of turn.state.machines.values()) offerMachine(turn, machine);
  for (const broker of turn.state.brokers.values()) {
    if (broker.connectionId === 0 || broker.isSynced || isMachineAwaited(turn.state, broker)) continue;
    broker.isSynced = true;
    turn.commands.push({ kind: 'ReportSynced', brokerId: broker.brokerId });
  }
}

function isMachineAwaited(state: ProviderState, broker: KnownBroker): boolean {
  return [...state.machines.values()].some(
    (machine) => machine.brokerId === broker.brokerId && machine.reportedConnectionId !== broker.connectionId,
  );
}

/** Reports to brokers their requests that this step changed. */
export function reportChangedRequests(turn: Turn): void {
  const { state } = turn;
  for (const broker of state.brokers.values()) {
    if (broker.connectionId === 0) continue;
    const changed = listAllRequests(state, broker.brokerId).filter((request) =>
      turn.changedRequestIds.has(request.requestId),
    );
    if (changed.length === 0) continue;
    turn.commands.push({
      kind: 'ReportRequests',
      brokerId: broker.brokerId,
      requests: changed.map((request) => describeRequest(state, request)),
    });
  }
}
