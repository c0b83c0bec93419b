import { freeProcessors } from '../../../bag/index.ts';
import type { Reason } from '../../../reasons/index.ts';
import type { Instant, ProcessorCount, TaskIndex } from '../../../shared/index.ts';
import { listUsedProviders } from '../machines/takes-work.ts';
import { mayUse } from '../site-selection/assigned-tasks.ts';
import { describeDraining } from './explain-draining.ts';
import { describeRequests } from './explain-request.ts';
import { type Waiting, listedMax } from './explanation.ts';
import { matchesQueue } from '../dispatch/matching.ts';
import { statusOfMachine } from '../queries.ts';
import { keepsAway } from '../times/remaining-time.ts';
import type { BrokerGang, BrokerProvider, BrokerState, TaskQueue } from '../state.ts';

/** What a provider has for a gang. */
interface Offer {
  readonly provider: BrokerProvider;
  /** Of machines that it may use. */
  readonly capacity: ProcessorCount;
  readonly free: ProcessorCount;
  /** Machines whose agents know nothing of gangs. */
  readonly tooOldCount: number;
}

/** Says why gangs of a queue wait. */
export function explainGangWaiting(state: BrokerState, queue: TaskQueue, now: Instant): Waiting {
  const { processors, job } = queue;
  if (job.gangsPausedUntil > now) {
    const pauseMs = job.gangsPausedUntil - now;
    return { why: { code: 'gangs-paused', failedGangs: job.failedGangStarts, pauseMs }, details: [] };
  }
  const offers = listUsedProviders(state)
    .filter((provider) => mayUse(queue, provider))
    .map((provider) => getOffer(state, { provider, queue }, now))
    .sort((one, other) => other.capacity - one.capacity);
  const details = [...offers.slice(0, listedMax).map(describeOffer), ...describeRequests(state, now)];
  const [widest] = offers;
  if (widest === undefined || widest.capacity < processors) {
    const usableProcessors = widest?.capacity ?? 0;
    const found = widest === undefined || usableProcessors === 0 ? {} : { providerId: widest.provider.providerId };
    return { why: { code: 'gang-too-wide', processors, usableProcessors, ...found }, details };
  }
  const { free, provider } = offers.reduce(
    (best, offer) => (offer.capacity >= processors && offer.free > best.free ? offer : best),
    widest,
  );
  const { providerId } = provider;
  return { why: { code: 'gang-gathering', processors, freeProcessors: free, providerId }, details };
}

function getOffer(
  state: BrokerState,
  { provider, queue }: { readonly provider: BrokerProvider; readonly queue: TaskQueue },
  now: Instant,
): Offer {
  let [capacity, free, tooOldCount] = [0, 0, 0];
  for (const machine of provider.machines.values()) {
    if (machine.facts.takesGangs !== true) tooOldCount++;
    if (!['idle', 'busy'].includes(statusOfMachine(state, machine, now))) continue;
    if (!matchesQueue(queue, machine) || keepsAway({ state, now }, queue, machine)) continue;
    capacity += machine.processors;
    free += freeProcessors(machine);
  }
  return { provider, capacity, free, tooOldCount };
}

function describeOffer({ provider, capacity, free, tooOldCount }: Offer): Reason {
  const { providerId, isConnected, lastError } = provider;
  if (!isConnected) return { code: 'provider-away', providerId, cause: lastError };
  const [draining] = describeDraining([provider]);
  if (draining !== undefined) return draining;
  return {
    code: 'gang-offer',
    providerId,
    usableProcessors: capacity,
    freeProcessors: free,
    outdatedMachines: tooOldCount,
  };
}

/** Where a gang is, and whether it has started. */
export function describeGang(
  { members, status, heldCount, job: { jobId, processors }, dispatchedAt }: BrokerGang,
  taskIndex: TaskIndex,
  now: Instant,
): Reason {
  const gang = {
    jobId,
    taskIndex,
    processors,
    machines: members.length,
    processorsByMachine: members
      .slice(0, listedMax)
      .map((replica) => `${replica.machine.facts.machineId}=${replica.processors}`),
  };
  return status === 'started'
    ? { code: 'gang-running', ...gang }
    : { code: 'gang-starting', ...gang, readyMachines: heldCount, forMs: Math.max(0, now - dispatchedAt) };
}
