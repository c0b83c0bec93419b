import type { AllocationRequest, Demand } from '../../messages/index.ts';
import type { Instant, ProcessorCount } from '../../shared/index.ts';
import type { BrokerProvider, BrokerState } from './state.ts';
import { type Turn, wakeBy } from './turn.ts';

/**
 * Splits the pending tasks among the providers: to each what is left when what the others have, will have and may ask for does its part.
 *
 * Machines and running requests count in full, requests that wait in the order in which this broker heard of them, each for what those
 * before it leave: were all counted, two providers would take turns in giving way to each other. (Not the instants decide that they state:
 * were a new request, by a clock that was set, before one that waits, its provider would give it up and ask again without end.) What nothing
 * covers is dealt out evenly, so that two providers that hear of a job at once do not both ask for all of it; what one
 * has left of its share after `shareWait` the others may ask for too. A provider's part covers the tasks that it runs.
 */
export function splitDemand(turn: Turn, total: Demand): Map<BrokerProvider, number> {
  const { state } = turn;
  const { pendingTasks, processors } = total;
  const providers = [...state.providers.values()];
  const held = new Map(providers.map((provider) => [provider, heldBy(state, provider, processors)]));
  const left = claimWaiting(state, held, total);
  const shares = dealShares(turn, left);
  return new Map(providers.map((provider) => {
    let elsewhere = 0;
    for (const other of providers) if (other !== provider) elsewhere += (held.get(other) ?? 0) + (shares.get(other) ?? 0);
    return [provider, Math.max(Math.min(countRunning(provider), pendingTasks), pendingTasks - elsewhere)];
  }));
}

/**
 * Tasks that a provider's machines and running requests can hold at once.
 *
 * One that is away gets nothing new, so it covers no more than what runs there: its machines may never come back.
 */
function heldBy(state: BrokerState, provider: BrokerProvider, processors: ProcessorCount): number {
  if (!provider.isConnected) return countRunning(provider);
  let held = 0;
  for (const machine of provider.machines.values()) {
    if (machine.facts.requestId === '') held += Math.floor(machine.processors / processors);
  }
  for (const request of state.requests.values()) {
    if (request.providerId === provider.providerId && request.status === 'running') held += Math.floor(request.width / processors);
  }
  return held;
}

/** Replicas that provide for open tasks on the provider's machines, at most one per slot. */
function countRunning(provider: BrokerProvider): number {
  let running = 0;
  for (const machine of provider.machines.values()) {
    for (const replica of machine.replicas.values()) if (replica.status !== 'aborting') running++;
  }
  return running;
}

/** Adds to what each provider holds what its waiting requests will do; returns the tasks that are left. */
function claimWaiting(state: BrokerState, held: Map<BrokerProvider, number>, { pendingTasks, processors }: Demand): number {
  let left = pendingTasks;
  for (const count of held.values()) left -= count;
  for (const request of state.requests.values()) {
    if (left <= 0) break;
    const provider = state.providers.get(request.providerId);
    if (provider?.isConnected !== true || !isWaiting(request)) continue;
    const claim = Math.min(left, Math.floor(request.width / processors));
    held.set(provider, (held.get(provider) ?? 0) + claim);
    left -= claim;
  }
  return Math.max(0, left);
}

function isWaiting({ status }: AllocationRequest): boolean {
  return status === 'queued' || status === 'submitting';
}

/** Deals the tasks that nothing covers evenly to the providers that may ask for something; only shares that are fresh are told. */
function dealShares(turn: Turn, left: number): Map<BrokerProvider, number> {
  const takers = [...turn.state.providers.values()].filter(mayAsk);
  const shares = new Map<BrokerProvider, number>();
  takers.forEach((provider, index) => {
    const share = Math.floor(left / takers.length) + (index < left % takers.length ? 1 : 0);
    const until = freshUntil(turn, provider, share);
    if (until <= turn.now) return;
    shares.set(provider, share);
    if (share > 0 && turn.state.providers.size > 1) wakeBy(turn, until);
  });
  return shares;
}

/** Until when a share is kept for its provider alone. */
function freshUntil({ state, now }: Turn, provider: BrokerProvider, share: number): Instant {
  if (share === 0) provider.shareSince = undefined;
  else provider.shareSince ??= now;
  return (provider.shareSince ?? now) + state.options.shareWait;
}

/** Those with time-shared machines have what they have, and those that are away ask for nothing that counts. */
function mayAsk({ isConnected, machines }: BrokerProvider): boolean {
  if (!isConnected) return false;
  for (const { facts } of machines.values()) if (facts.requestId === '') return false;
  return true;
}
