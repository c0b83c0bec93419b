import { getAllowance } from '../../../bag/index.ts';
import { type AllocationRequest, getCapacity, reservationKey } from '../../../messages/index.ts';
import { FreeResources, isSameCapacity } from '../../../resources/index.ts';
import { invariant, type MachineId, type ProviderId } from '../../../shared/index.ts';
import { TimeCurve, unknownSlowness } from '../../../times/index.ts';
import type { ChangeOf } from '../changes.ts';
import { getIdentity } from '../trust/trust-records.ts';
import { judgeLosses } from '../results/judge-losses.ts';
import { getHeldTime, openAccount, requestKey } from '../ledger/ledger-accounts.ts';
import { recountResources } from '../machines/machine-resources.ts';
import { addToPattern } from '../machines/machine-pattern.ts';
import type { BrokerMachine, BrokerProvider, BrokerState } from '../state.ts';

/** The provider of that name, which must be there. */
export function getProvider(state: BrokerState, providerId: ProviderId): BrokerProvider {
  const provider = state.providers.get(providerId);
  invariant(provider, `there is no provider ${providerId}`);
  return provider;
}

/** The machine of that name, which must be there. */
export function getMachine(state: BrokerState, machineId: MachineId): BrokerMachine {
  const machine = state.machines.get(machineId);
  invariant(machine, `there is no machine ${machineId}`);
  return machine;
}

/** Knows a provider, or its new address. */
export function addProvider(state: BrokerState, { providerId, address }: ChangeOf<'ProviderAdded'>): void {
  const known = state.providers.get(providerId);
  if (known !== undefined) {
    known.address = address;
    known.isRemoved = false;
  } else {
    state.providers.set(providerId, {
      providerId,
      address,
      isRemoved: false,
      machines: new Map(),
      pattern: undefined,
      leases: [],
      confirmedLease: 0,
      isConnected: false,
      resourceId: '',
      takesLeases: false,
      isSynced: false,
      isLeaseReported: false,
      quarantineReported: [],
      leaseSeenAt: 0,
      awaySince: undefined,
      listeningUntil: undefined,
      isListening: false,
      lastError: '',
      clockOffset: 0,
      statuses: [],
      resource: undefined,
      resourceAwaitedUntil: undefined,
      draining: undefined,
      demand: undefined,
      demandAt: 0,
      shareSince: undefined,
      owesTurn: false,
    });
  }
}

/** Stops using a provider; its machines are gone already. */
export function removeProvider(state: BrokerState, { providerId }: ChangeOf<'ProviderRemoved'>): void {
  const provider = getProvider(state, providerId);
  Object.assign(provider, {
    isRemoved: true,
    pattern: undefined,
    confirmedLease: 0,
    listeningUntil: undefined,
    resourceAwaitedUntil: undefined,
    lastError: '',
  } satisfies Partial<BrokerProvider>);
  provider.leases.length = 0;
}

/** Knows a machine, or what has changed about one that is known. */
export function joinMachine(state: BrokerState, change: ChangeOf<'MachineJoined'>): void {
  const { facts } = change;
  const provider = getProvider(state, change.providerId);
  if (facts.requestId !== '') {
    const slot = state.requests.get(requestKey(change.providerId, facts.requestId))?.slot;
    provider.pattern = addToPattern(provider.pattern, facts, slot);
  }
  const known = state.machines.get(facts.machineId);
  if (known !== undefined) {
    const isSame = isSameCapacity(getCapacity(known.facts), getCapacity(facts));
    known.facts = facts;
    known.processors = facts.processors;
    if (!isSame) recountResources(known);
    return;
  }
  const machine: BrokerMachine = {
    provider,
    facts,
    processors: facts.processors,
    joinedAt: change.at,
    replicas: new Map(),
    heldProcessors: 0,
    resources: new FreeResources(getCapacity(facts)),
    short: new Set(),
    allowance: facts.requestId === '' ? getAllowance({ finishedCount: 0 }, 1) : Infinity,
    account: openAccount(state, provider.providerId, facts.requestId),
    charged: 0,
    finishedCount: 0,
    failedCount: 0,
    times: new TimeCurve(),
    slowness: unknownSlowness,
    isAnnounced: false,
    isGone: false,
    breakages: 0,
    doubtedJobId: 0,
    quarantinedUntil: 0,
    isStopping: false,
    shutdownCount: 0,
  };
  state.machines.set(facts.machineId, machine);
  provider.machines.set(facts.machineId, machine);
}

/** Forgets a machine, whose replicas have ended before. */
export function loseMachine(state: BrokerState, { machineId, at }: ChangeOf<'MachineLost'>): void {
  const machine = getMachine(state, machineId);
  invariant(machine.replicas.size === 0, `machine ${machineId} is lost with replicas`);
  machine.account.departed += getHeldTime(machine, at);
  state.machines.delete(machineId);
  // A machine of an allocation never comes back under its name.
  if (machine.facts.requestId !== '') state.drainedMachines.delete(getIdentity(machine.facts));
  machine.provider.machines.delete(machineId);
}

/** Knows what has become of allocation requests. */
export function changeRequests(state: BrokerState, { providerId, requests }: ChangeOf<'RequestsChanged'>): void {
  judgeLosses(
    state,
    requests.filter(
      ({ requestId, endCode }) =>
        endCode !== undefined && state.requests.get(requestKey(providerId, requestId))?.endCode === undefined,
    ),
  );
  for (const request of requests) {
    state.requests.set(requestKey(providerId, request.requestId), request);
    openAccount(state, providerId, request.requestId);
    noteReservation(state, request);
  }
}

function noteReservation(
  { overReservations, movedReservations }: BrokerState,
  { reservation, reasons }: AllocationRequest,
): void {
  if (reservation?.movedTo !== undefined) movedReservations.set(reservationKey(reservation), reservation.movedTo);
  if (reservation === undefined || reservation.overCode === '') return;
  const { overCode: code } = reservation;
  const reason = reasons.at(-1) ?? { code: 'claim-refused', refusalCode: code };
  overReservations.set(reservationKey(reservation), { code, reason });
}
