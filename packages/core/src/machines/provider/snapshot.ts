import type {
  DrainingStatus,
  LeaseOutline,
  MachineFacts,
  ReservedWindow,
  ResourceLimits,
} from '../../messages/index.ts';
import { readSavedReason, readSavedReasons, type Reason } from '../../reasons/index.ts';
import type { TaskGroup } from '../../requests/index.ts';
import type { Instant, MachineId, ReplicaId } from '../../shared/index.ts';
import { keepReport } from './apply-lease.ts';
import { openLease, dispatchLeased, type EnrolledMachine } from './spooled-lease.ts';
import {
  createBroker,
  createMachine,
  createProviderState,
  type BrokerId,
  type HeuristicSwitch,
  type KnownBroker,
  type MeasuredTimes,
  type OwnRequest,
  type ProviderConfig,
  type ProviderState,
} from './state.ts';

/** What a provider has promised, in a form that survives JSON. */
export interface ProviderSnapshot {
  readonly instance: string;
  /** Left out where nothing was switched to. */
  readonly switched?: HeuristicSwitch;
  readonly limits: ResourceLimits | undefined;
  readonly requestsMaxSeen: number;
  readonly requests: readonly SavedRequest[];
  readonly nextRequestNumber: number;
  readonly brokerIds: readonly BrokerId[];
  /**
   * Since which request each of these brokers has had its demand; left out by releases that did not separate demands.
   */
  readonly demands?: readonly {
    readonly demandFrom: number;
    readonly taskTimes: MeasuredTimes;
    readonly cutOff?: readonly TaskGroup[];
  }[];
  /** The journals that these brokers speak for; left out by releases that did not distinguish them. */
  readonly instances?: readonly string[];
  readonly machines: readonly {
    readonly facts: MachineFacts;
    readonly brokerId: BrokerId;
    readonly isForeign?: boolean;
  }[];
  /** What each of these brokers leased; left out by releases that took no leases. */
  readonly leases?: readonly (SavedLease | null)[];
  /** Reports that no broker has acknowledged; left out likewise. */
  readonly kept?: readonly Omit<EnrolledMachine, 'reportedConnectionId'>[];
  /** Left out by releases that held no allocations. */
  readonly windows?: readonly ReservedWindow[];
  readonly waits?: ProviderState['waits'];
  /** Left out while the provider takes work. */
  readonly draining?: DrainingStatus;
  /** Left out where no heuristic has asked for anything lately. */
  readonly asked?: ProviderState['asked'];
  readonly taskTimes: MeasuredTimes;
  readonly refusals: number;
  readonly emptyAllocationStreak: number;
  /** Left out where it is 0. */
  readonly barren?: number;
  readonly pausedUntil: Instant;
}

/** A request in a snapshot. */
export type SavedRequest = Omit<OwnRequest, 'releaseReason'> & { readonly releaseReason?: Reason | string };

/** A lease in a snapshot. */
export interface SavedLease {
  readonly outline: LeaseOutline;
  readonly started: readonly (readonly [ReplicaId, MachineId])[];
  readonly standbySince: Instant;
}

/** Takes what the state promised. */
export function takeSnapshot(state: ProviderState): ProviderSnapshot {
  const {
    instance,
    limits,
    requestsMaxSeen,
    nextRequestNumber,
    taskTimes,
    refusals,
    emptyAllocationStreak,
    barren,
    pausedUntil,
    switched,
    draining,
  } = state;
  return {
    instance,
    limits,
    requestsMaxSeen,
    nextRequestNumber,
    taskTimes,
    refusals,
    emptyAllocationStreak,
    pausedUntil,
    ...(barren === 0 ? {} : { barren }),
    ...(switched === undefined ? {} : { switched }),
    ...(draining === undefined ? {} : { draining }),
    ...(state.windows.size === 0 ? {} : { windows: [...state.windows.values()] }),
    ...(state.waits.length === 0 ? {} : { waits: [...state.waits] }),
    ...(state.asked.submissions.length + state.asked.withdrawals.length === 0 ? {} : { asked: { ...state.asked } }),
    requests: [...state.requests.values()],
    brokerIds: [...state.brokers.keys()],
    demands: [...state.brokers.values()].map(({ demandFrom, taskTimes: ofDemand, cutOff }) => ({
      demandFrom,
      taskTimes: ofDemand,
      ...(cutOff.length === 0 ? {} : { cutOff }),
    })),
    instances: [...state.brokers.values()].map(({ instance: named }) => named),
    machines: [...state.machines.values()].map(({ facts, brokerId, isForeign }) => ({
      facts,
      brokerId,
      ...(isForeign ? { isForeign } : {}),
    })),
    leases: [...state.brokers.values()].map(({ lease, standbySince }) =>
      lease === undefined ? null : { outline: lease.outline, started: [...lease.started], standbySince },
    ),
    kept: [...state.kept.values()].map(({ facts, brokerId, reports }) => ({ facts, brokerId, reports: [...reports] })),
  };
}

/** The state that replay of the changes behind a snapshot would have made; everybody is away. */
export function restoreSnapshot(config: ProviderConfig, snapshot: ProviderSnapshot): ProviderState {
  const {
    requests,
    brokerIds,
    demands = [],
    instances = [],
    machines,
    leases = [],
    kept = [],
    windows,
    waits,
    asked,
    ...promised
  } = snapshot;
  const state: ProviderState = {
    ...createProviderState(config),
    ...promised,
    ...deserializeHeld(windows, waits, asked),
  };
  for (const request of requests) state.requests.set(request.requestId, deserializeRequest(request));
  brokerIds.forEach((brokerId, index) => {
    state.brokers.set(brokerId, {
      ...createBroker(brokerId, 1),
      instance: instances[index] ?? '',
      ...demands[index],
      ...deserializeLease(leases[index] ?? undefined),
    });
  });
  for (const { facts, brokerId, isForeign = false } of machines) {
    state.machines.set(facts.machineId, { ...createMachine(facts, brokerId, 1), isForeign });
  }
  for (const { facts, brokerId, reports } of kept) {
    for (const report of reports) keepReport(state, { kind: 'ReportSpooled', brokerId, facts, ...report, at: 0 });
  }
  return state;
}

/** Early snapshots hold sentences, and an empty one for a request that is wanted. */
function deserializeRequest({ releaseReason, ...request }: SavedRequest): OwnRequest {
  return {
    ...request,
    reasons: readSavedReasons(request.reasons),
    ...(releaseReason === undefined || releaseReason === '' ? {} : { releaseReason: readSavedReason(releaseReason) }),
  };
}

/** What releases that held no allocations left out is nothing. */
function deserializeHeld(
  windows: readonly ReservedWindow[] = [],
  waits: ProviderState['waits'] = [],
  asked: ProviderState['asked'] = nothingAsked,
): Pick<ProviderState, 'windows' | 'waits' | 'asked'> {
  return {
    windows: new Map(windows.map((window) => [window.reservationId, window])),
    waits: [...waits],
    asked: { ...asked },
  };
}

const nothingAsked: ProviderState['asked'] = { submissions: [], withdrawals: [] };

function deserializeLease(saved: SavedLease | undefined): Pick<KnownBroker, 'lease' | 'standbySince'> {
  if (saved === undefined) return { lease: undefined, standbySince: 0 };
  const lease = openLease(saved.outline);
  for (const [replicaId, machineId] of saved.started) dispatchLeased(lease, replicaId, machineId);
  return { lease, standbySince: saved.standbySince };
}
