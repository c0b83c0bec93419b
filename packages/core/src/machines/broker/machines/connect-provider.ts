import type { GetInput } from '../inputs.ts';
import { drained } from './takes-work.ts';
import { loseMachine } from './lose-machine.ts';
import { silentLoss } from '../../../bag/index.ts';
import type { AllocationRequest } from '../../../messages/index.ts';
import type { Fault } from '../../../reasons/index.ts';
import { reasonOfSilence } from '../results/judge-losses.ts';
import { leaseEnd } from '../leases/present-lease.ts';
import type { BrokerMachine, BrokerProvider } from '../state.ts';
import { commit, reply, type Turn, wakeBy } from '../turn.ts';

/** Knows a provider and connects to it. The same again is harmless; another address moves it. */
export function addProvider(turn: Turn, input: GetInput<'ProviderAdded'>): void {
  const { providerId, address } = input;
  const fault = findProviderFault(providerId, address);
  if (fault !== undefined) {
    reply(turn, input.replyTo, { ok: false, code: 'MUT_BAD_REQUEST', fault });
    return;
  }
  const known = turn.state.providers.get(providerId);
  if (known?.address !== address || known.isRemoved) {
    commit(turn, { kind: 'ProviderAdded', providerId, address });
    turn.commands.push({ kind: 'ConnectProvider', providerId, address });
    awaitResource(turn, turn.state.providers.get(providerId));
  }
  reply(turn, input.replyTo, { ok: true, value: {} });
}

/**
 * Stops using a provider that is away: its machines are lost, which counts against no task, and its requests vanish.
 */
export function removeProvider(turn: Turn, { replyTo, providerId }: GetInput<'ProviderRemoved'>): void {
  const provider = turn.state.providers.get(providerId);
  if (provider === undefined || provider.isRemoved) {
    reply(turn, replyTo, { ok: false, code: 'MUT_NOT_FOUND', fault: { code: 'provider-not-found', providerId } });
    return;
  }
  if (provider.isConnected) {
    reply(turn, replyTo, { ok: false, code: 'MUT_BAD_REQUEST', fault: { code: 'provider-connected', providerId } });
    return;
  }
  for (const machine of [...provider.machines.values()]) loseMachine(turn, machine, drained);
  const requests = [...turn.state.requests.values()]
    .filter((request) => request.providerId === providerId && isOpen(request))
    .map((request) => ({ ...request, status: 'vanished' as const, endedAt: turn.now }));
  if (requests.length > 0) commit(turn, { kind: 'RequestsChanged', providerId, requests });
  commit(turn, { kind: 'ProviderRemoved', providerId });
  turn.commands.push({ kind: 'DisconnectProvider', providerId });
  reply(turn, replyTo, { ok: true, value: {} });
}

function isOpen({ status }: AllocationRequest): boolean {
  return !['ended', 'rejected', 'vanished'].includes(status);
}

function findProviderFault(providerId: string, address: string): Fault | undefined {
  if (!/^(?!\.{1,2}$)[\w.-]{1,100}$/.test(providerId)) return { code: 'provider-id-invalid', providerId };
  return address === '' ? { code: 'provider-address-empty' } : undefined;
}

/** Takes a new connection: nothing is placed on a machine of the provider before it is reported. */
export function connectProvider(turn: Turn, input: GetInput<'ProviderConnected'>): void {
  const provider = turn.state.providers.get(input.providerId);
  if (provider === undefined || provider.isRemoved) return;
  forgetConnection(provider);
  provider.isConnected = true;
  provider.awaySince = undefined;
  awaitReporting(turn, provider);
  provider.lastError = '';
  provider.takesLeases = input.takesLeases === true;
  provider.resourceId = input.resourceId ?? '';
  provider.clockOffset = (input.clock ?? turn.now) - turn.now;
  if (input.reportsResource === true) awaitResource(turn, provider);
  else provider.resourceAwaitedUntil = undefined;
}

/** Waits for the provider's report on its resource, but only once. */
function awaitResource({ state, now }: Turn, provider: BrokerProvider | undefined): void {
  if (provider !== undefined) provider.resourceAwaitedUntil ??= now + state.options.onWithin;
}

/** Notes the status of a provider's resource. A provider that does not know it yet is still waited for. */
export function onResourceReported(
  { state, now }: Turn,
  { providerId, resourceStatus }: GetInput<'ResourceReported'>,
): void {
  const provider = state.providers.get(providerId);
  if (provider === undefined || !provider.isConnected) return;
  provider.resource = { resourceStatus, receivedAt: now };
  if (resourceStatus.isTimeShared || resourceStatus.processors > 0) provider.resourceAwaitedUntil = undefined;
}

/**
 * Waits again for a provider that is back, but once: what was leased to one that comes and goes is not held back for
 * ever.
 */
function awaitReporting({ state, now }: Turn, provider: BrokerProvider): void {
  if (!provider.isListening) provider.listeningUntil = now + state.options.onWithin;
  provider.isListening = true;
}

/** Counts as lost the machines that are missing from the provider's initial sync. */
export function settleProvider(turn: Turn, input: GetInput<'ProviderSynced'>): void {
  const provider = turn.state.providers.get(input.providerId);
  if (provider === undefined || !provider.isConnected) return;
  provider.isSynced = true;
  provider.listeningUntil = undefined;
  provider.isListening = false;
  for (const machine of [...provider.machines.values()]) {
    // Of one that gives everything back it was taken while we were away.
    if (!machine.isAnnounced)
      loseMachine(turn, machine, provider.draining?.isAtOnce === true ? drained : reasonWhenGone(turn, machine), 0);
  }
}

/**
 * Why a machine is gone that ended while its provider could not report it: its allocation was taken away or reached its
 * walltime, or an unknown reason.
 */
function reasonWhenGone({ state, now }: Turn, machine: BrokerMachine): string {
  const {
    facts: { until },
  } = machine;
  const reason = reasonOfSilence(state, machine, now);
  return reason === silentLoss && until !== undefined && until <= now ? 'MUT_WALLTIME_ENDED' : reason;
}

/** Suspects the provider's machines: they keep what they run, and get nothing new. */
export function disconnectProvider(turn: Turn, input: GetInput<'ProviderDisconnected'>): void {
  const provider = turn.state.providers.get(input.providerId);
  if (provider === undefined || provider.isRemoved) return;
  forgetConnection(provider);
  provider.awaySince ??= turn.now;
  provider.listeningUntil ??= turn.now + turn.state.options.onWithin;
  awaitResource(turn, provider);
  provider.lastError = input.reason;
}

function forgetConnection(provider: BrokerProvider): void {
  provider.isConnected = false;
  provider.demand = undefined;
  provider.statuses = [];
  provider.resource = undefined;
  provider.draining = undefined;
  provider.isSynced = false;
  provider.isLeaseReported = false;
  for (const machine of provider.machines.values()) machine.isAnnounced = false;
}

/**
 * Counts as lost the machines of providers that were away for longer than the grace; one with a lease is given as long
 * as it may go on alone.
 */
export function expireSuspects(turn: Turn): void {
  const { state, now } = turn;
  for (const provider of state.providers.values()) {
    if (provider.awaySince === undefined || provider.machines.size === 0) continue;
    const due = Math.max(provider.awaySince + state.options.suspectGrace, leaseEnd(provider) ?? 0);
    if (due > now) {
      wakeBy(turn, due);
      continue;
    }
    for (const machine of [...provider.machines.values()]) loseMachine(turn, machine, silentLoss, provider.awaySince);
  }
}
