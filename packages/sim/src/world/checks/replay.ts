import { restore, snapshot, type BrokerState } from '@mutirao/core/machines/broker';
import { restoreSnapshot, takeSnapshot, type ClusterSnapshot, type ClusterState } from '@mutirao/core/machines/cluster';
import {
  takeSnapshot as takeProviderSnapshot,
  restoreSnapshot as restoreProviderSnapshot,
  type ProviderSnapshot,
  type ProviderState,
} from '@mutirao/core/machines/provider';
import { invariant } from '@mutirao/core/shared';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';

/** A process started now from the disk would know what the living one knows, except for state of the moment. */
export class ReplayCheck implements WorldCheck {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  look(): void {
    const { broker, clusters, labs } = this.#world;
    const home = broker.current;
    // One whose disk is full has decided what is not written yet.
    if (home !== undefined && !home.process.isStalled) {
      const living = describeBroker(home.process.state);
      compare('the broker', living, describeBroker(home.recover()));
      compare('a broker with its snapshot', living, describeBroker(restore(snapshot(home.process.state))));
    }
    for (const { provider } of [...clusters, ...labs]) {
      const { current } = provider;
      if (current === undefined || current.process.isStalled) continue;
      const { state } = current.process;
      const living = describeProvider(state);
      compare(provider.name, living, describeProvider(current.recover()));
      compare(
        `${provider.name} with its snapshot`,
        living,
        describeProvider(
          restoreProviderSnapshot(
            state.config,
            JSON.parse(JSON.stringify(takeProviderSnapshot(state))) as ProviderSnapshot,
          ),
        ),
      );
    }
    for (const { cluster } of clusters) {
      const { current } = cluster;
      if (current === undefined || current.process.isStalled) continue;
      const { state } = current.process;
      const living = describeCluster(state);
      compare(cluster.name, living, describeCluster(current.recover()));
      compare(
        `${cluster.name} with its snapshot`,
        living,
        describeCluster(
          restoreSnapshot(state.options, JSON.parse(JSON.stringify(takeSnapshot(state))) as ClusterSnapshot),
        ),
      );
    }
  }
}

function compare(name: string, living: string, replayed: string): void {
  if (living === replayed) return;
  let at = 0;
  while (living[at] === replayed[at]) at += 1;
  const from = Math.max(0, at - 60);
  invariant(
    false,
    `${name} would start with ...${replayed.slice(from, at + 40)}... and has ...${living.slice(from, at + 40)}...`,
  );
}

/** What is of the moment, by name. */
const seenFields: ReadonlySet<string> = new Set([
  'isAnnounced',
  'demandsAt',
  'demandsDue',
  'breakages',
  'doubtedJobId',
  'quarantinedUntil',
  'allowance',
  'isStopping',
  'shutdownCount',
  'isWithdrawing',
  'awaitedEnds',
  'isEnding',
  'isConnected',
  'awaySince',
  'listeningUntil',
  'isListening',
  'lastError',
  'demandAt',
  'failedGangStarts',
  'gangsPausedUntil',
  'owesTurn',
  'brokenGangs',
  'shareSince',
  'clockOffset',
  'wakeAt',
  'seenAt',
  'unknownSince',
  'missedListings',
  'waitingListings',
  'releaseAskedAt',
  'attachmentId',
  'reportedConnectionId',
  'isReturning',
  'connectionId',
  'isSynced',
  'idleSince',
  'coveredSince',
  'demandRequest',
  'endedProcessors',
  'resourceId',
  'takesLeases',
  'isLeaseReported',
  'leaseSeenAt',
  'busySince',
  'resourceAwaitedUntil',
  'resourceDue',
  'takesResource',
  'leaseConnectionId',
  'isLeaseConfirmed',
  'isKeeping',
  'isFull',
  'isGone',
  'failedGangStarts',
  'gangsPausedUntil',
  'owesTurn',
]);

/**
 * All plain fields of an object except those of the moment, by name, in any order: fields that are added later are
 * compared too.
 */
function findPlain(thing: object): unknown {
  return Object.entries(thing)
    .filter(
      ([name, value]) => !seenFields.has(name) && value !== undefined && (typeof value !== 'object' || value === null),
    )
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function describeBroker(state: BrokerState): string {
  const {
    jobs,
    openJobs,
    jobsByClientId,
    providers,
    machines,
    replicas,
    successes,
    requests,
    accounts,
    records,
    overReservations,
    movedReservations,
  } = state;
  return JSON.stringify([
    findPlain(state),
    [...openJobs.keys()],
    [...jobsByClientId.keys()],
    [...accounts.values()].map(findPlain),
    [...requests.values()].map((request) => [findPlain(request), request.reservation]),
    [...overReservations],
    [...movedReservations],
    [...providers.values()].map((provider) => [
      findPlain(provider),
      provider.pattern,
      provider.leases.map((lease) => [lease.sequence, lease.horizon, lease.parts, [...lease.adopted].sort()]),
    ]),
    [...machines.values()].map((machine) => [findPlain(machine), machine.facts, machine.times, machine.slowness]),
    [...replicas.values()].map(findPlain),
    [...successes.values()].map((success) => [findPlain(success), findPlain(success.ending), success.ending.outputs]),
    [...jobs.values()].map((job) => [
      findPlain(job),
      job.reservation,
      job.reservationOver,
      job.times,
      [...job.tasks.values()].map(findPlain),
      [...job.assigned].map(([index, { provider, at, startsBy, reason }]) => [
        index,
        provider.providerId,
        at,
        startsBy,
        reason,
      ]),
      [...job.shares.values()],
      [...job.supports].map(([identity, set]) => [identity, [...set.ranges()]]),
      [...job.doubtful.ranges()],
    ]),
    [...records.values()].map((record) => [findPlain(record), record.evidence]),
  ]);
}

function describeProvider({ requests, machines, brokers, taskTimes, limits, ...state }: ProviderState): string {
  return JSON.stringify([
    state.instance,
    state.requestsMaxSeen,
    state.nextRequestNumber,
    state.refusals,
    state.emptyAllocationStreak,
    state.barren,
    state.pausedUntil,
    taskTimes,
    limits,
    [...requests.values()].map((request) => [
      findPlain(request),
      request.reasons,
      request.reservation,
      request.heldFor,
    ]),
    [...state.windows.values()],
    state.waits,
    state.asked,
    [...brokers.values()].map((broker) => [
      findPlain(broker),
      broker.taskTimes,
      broker.cutOff,
      broker.lease?.outline,
      [...(broker.lease?.started ?? [])].sort(),
      broker.lease?.startedCounts,
    ]),
    [...state.kept.values()].map(({ facts, brokerId, reports }) => [facts, brokerId, reports]),
    state.keptBytes,
    [...machines.values()].map((machine) => [findPlain(machine), machine.facts]),
  ]);
}

function describeCluster({
  requests,
  requestsByKey,
  livingCounts,
  endedIds,
  plan,
  scores,
  ...state
}: ClusterState): string {
  return JSON.stringify([
    state.processorsBusy,
    state.nextRequestId,
    [...requestsByKey.keys()].sort(),
    [...livingCounts].sort(),
    endedIds,
    [...plan.running.keys()],
    [...plan.waiting.keys()],
    [...scores].sort(([one], [other]) => (one < other ? -1 : 1)),
    [...requests.values()].map((request) => [findPlain(request), request.order, [...request.livingProcesses]]),
  ]);
}
