import type {
  AddProviderRequest,
  AddProviderResponse,
  RemoveProviderRequest,
  RemoveProviderResponse,
  DrainMachineRequest,
  DrainMachineResponse,
  UndrainMachineRequest,
  UndrainMachineResponse,
  GetOverviewRequest,
  GetOverviewResponse,
  GetProviderQueueRequest,
  GetProviderQueueResponse,
  ListMachinesRequest,
  ListMachinesResponse,
  ListProvidersRequest,
  ListProvidersResponse,
  ListRequestsRequest,
  ListRequestsResponse,
  ListTrustRequest,
  ListTrustResponse,
  ResetMachineTrustRequest,
  ResetMachineTrustResponse,
  QuarantineMachineRequest,
  QuarantineMachineResponse,
} from '@mutirao/api/broker';
import {
  badRequest,
  boundName,
  boundText,
  encodeAllocationRequest,
  encodeMachineRecord,
  encodeProviderRecord,
  encodeTrustRecord,
} from '@mutirao/api/codecs';
import {
  listMachineRecords,
  listProviders,
  listRequests,
  listTrust,
  findOverview,
} from '@mutirao/core/machines/broker';
import { parseAddress, unary, type UnaryHandler } from '@mutirao/runtime/rpc';

import type { BrokerParts } from './broker-parts.ts';

/** How much there is of what jobs run on. */
export function getOverviewRoute({
  driver,
  clock,
  room,
}: BrokerParts): UnaryHandler<GetOverviewRequest, GetOverviewResponse> {
  return () => {
    const { machines, ...rest } = findOverview(driver.state, clock.now());
    return {
      ...rest,
      trouble: room.trouble(),
      idleMachineCount: machines.idle,
      busyMachineCount: machines.busy,
      drainingMachineCount: machines.draining,
      quarantinedMachineCount: machines.quarantined,
    };
  };
}

/** The GridMachines that the broker has now. */
export function listMachinesRoute({
  driver,
  clock,
}: BrokerParts): UnaryHandler<ListMachinesRequest, ListMachinesResponse> {
  return () => ({ machines: listMachineRecords(driver.state, clock.now()).map(encodeMachineRecord) });
}

/** The allocation requests of all providers. */
export function listRequestsRoute({ driver }: BrokerParts): UnaryHandler<ListRequestsRequest, ListRequestsResponse> {
  return ({ includeEnded }) => ({ requests: listRequests(driver.state, includeEnded).map(encodeAllocationRequest) });
}

/** What machines have done for their trust. */
export function listTrustRoute({ driver }: BrokerParts): UnaryHandler<ListTrustRequest, ListTrustResponse> {
  return () => ({ records: listTrust(driver.state).map(encodeTrustRecord) });
}

/** Has a machine get nothing more. */
export function quarantineMachineRoute(
  parts: BrokerParts,
): UnaryHandler<QuarantineMachineRequest, QuarantineMachineResponse> {
  return async ({ machineId, reason }) => {
    boundName(machineId, 'machineName', 'machine_id');
    boundText(reason, 'text', 'reason');
    await parts.driver.ask((replyTo) => ({ kind: 'MachineQuarantined', replyTo, machineId, reason }));
    return {};
  };
}

/** Lets a machine that was caught begin again. */
export function resetMachineTrustRoute(
  parts: BrokerParts,
): UnaryHandler<ResetMachineTrustRequest, ResetMachineTrustResponse> {
  return async ({ machineId }) => {
    await parts.driver.ask((replyTo) => ({ kind: 'MachineTrustReset', replyTo, machineId }));
    return {};
  };
}

/** Has a machine get nothing new until it is undrained. */
export function drainMachineRoute(parts: BrokerParts): UnaryHandler<DrainMachineRequest, DrainMachineResponse> {
  return async ({ machineId, reason }) => {
    boundName(machineId, 'machineName', 'machine_id');
    boundText(reason, 'text', 'reason');
    await parts.driver.ask((replyTo) => ({ kind: 'MachineDrained', replyTo, machineId, reason }));
    return {};
  };
}

/** Has a machine take work again. */
export function undrainMachineRoute(parts: BrokerParts): UnaryHandler<UndrainMachineRequest, UndrainMachineResponse> {
  return async ({ machineId }) => {
    await parts.driver.ask((replyTo) => ({ kind: 'MachineUndrained', replyTo, machineId }));
    return {};
  };
}

/** Has the broker use a provider from now on. */
export function addProviderRoute(parts: BrokerParts): UnaryHandler<AddProviderRequest, AddProviderResponse> {
  return unary({
    decode: decodeProvider,
    handle: async ({ providerId, address }) => {
      await parts.driver.ask((replyTo) => ({ kind: 'ProviderAdded', replyTo, providerId, address }));
      return {};
    },
    encode: (response: AddProviderResponse) => response,
  });
}

/** Has the broker stop using a provider. */
export function removeProviderRoute(parts: BrokerParts): UnaryHandler<RemoveProviderRequest, RemoveProviderResponse> {
  return async ({ providerId }) => {
    boundName(providerId, 'machineName', 'provider_id');
    await parts.driver.ask((replyTo) => ({ kind: 'ProviderRemoved', replyTo, providerId }));
    return {};
  };
}

/**
 * Reads the name and the address of a provider. @throws {MutiraoError} MUT_BAD_REQUEST, MUT_BAD_CONFIG or
 * MUT_LOOPBACK_ONLY.
 */
export function decodeProvider({ providerId, address }: AddProviderRequest): AddProviderRequest {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(providerId)) {
    throw badRequest(`provider_id is ${JSON.stringify(providerId)}; expected letters, digits and "._-", 64 at most`);
  }
  parseAddress(address);
  return { providerId, address };
}

/** The providers that the broker uses, and whether it reaches them. */
export function listProvidersRoute(parts: BrokerParts): UnaryHandler<ListProvidersRequest, ListProvidersResponse> {
  return () => ({
    providers: listProviders(parts.driver.state).map((record) => {
      const lastError = record.lastError === '' ? parts.getTrouble(record.providerId) : record.lastError;
      return encodeProviderRecord({ ...record, lastError: record.isConnected ? '' : lastError });
    }),
  });
}

/**
 * The queue of a provider's resource, as the provider reports it.
 *
 * @throws {MutiraoError} MUT_NOT_FOUND; the provider's refusal, or MUT_UNREACHABLE.
 */
export function getProviderQueueRoute(
  parts: BrokerParts,
): UnaryHandler<GetProviderQueueRequest, GetProviderQueueResponse> {
  return async ({ providerId }) => {
    const { queue, age } = await parts.findQueue(providerId);
    return { queue, ageMs: age };
  };
}
