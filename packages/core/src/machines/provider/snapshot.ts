import type { MachineFacts, ResourceLimits } from '../../messages/index.ts';
import type { Instant } from '../../shared/index.ts';
import { createProviderState, nothingMeasured, type BrokerId, type HeuristicSwitch, type MeasuredTimes, type OwnRequest, type ProviderConfig, type ProviderState } from './state.ts';

/** What a provider has promised, in a form that survives JSON. */
export interface ProviderSnapshot {
  readonly instance: string;
  /** Left out where nothing was switched to. */
  readonly switched?: HeuristicSwitch;
  readonly limits: ResourceLimits | undefined;
  readonly requestsMaxSeen: number;
  readonly requests: readonly OwnRequest[];
  readonly nextRequestNumber: number;
  readonly brokerIds: readonly BrokerId[];
  /** What each of these brokers wants since when; left out by releases that did not tell one demand from the next. */
  readonly demands?: readonly { readonly demandFrom: number; readonly taskTimes: MeasuredTimes }[];
  readonly machines: readonly { readonly facts: MachineFacts; readonly brokerId: BrokerId }[];
  readonly taskTimes: MeasuredTimes;
  readonly refusals: number;
  readonly fruitless: number;
  readonly pausedUntil: Instant;
}

/** Takes what the state promised. */
export function freezeProvider(state: ProviderState): ProviderSnapshot {
  const { instance, limits, requestsMaxSeen, nextRequestNumber, taskTimes, refusals, fruitless, pausedUntil, switched } = state;
  return {
    instance, limits, requestsMaxSeen, nextRequestNumber, taskTimes, refusals, fruitless, pausedUntil,
    ...(switched === undefined ? {} : { switched }),
    requests: [...state.requests.values()], brokerIds: [...state.brokers.keys()],
    demands: [...state.brokers.values()].map(({ demandFrom, taskTimes: ofDemand }) => ({ demandFrom, taskTimes: ofDemand })),
    machines: [...state.machines.values()].map(({ facts, brokerId }) => ({ facts, brokerId })),
  };
}

/** The state that replay of the changes behind a snapshot would have made; everybody is away. */
export function thawProvider(config: ProviderConfig, snapshot: ProviderSnapshot): ProviderState {
  const { requests, brokerIds, demands = [], machines, ...promised } = snapshot;
  const state: ProviderState = { ...createProviderState(config), ...promised };
  for (const request of requests) state.requests.set(request.requestId, { ...request });
  brokerIds.forEach((brokerId, index) => {
    const { demandFrom, taskTimes } = demands[index] ?? { demandFrom: 0, taskTimes: nothingMeasured };
    state.brokers.set(brokerId, { brokerId, demandFrom, taskTimes, connectionId: 0, awaySince: 1, isSettled: false, demand: undefined, idleSince: 0 });
  });
  for (const { facts, brokerId } of machines) {
    state.machines.set(facts.machineId, {
      facts, brokerId, attachmentId: 0, awaySince: 1, heldReplicaIds: [], toldConnectionId: 0, isReturning: false,
    });
  }
  return state;
}
