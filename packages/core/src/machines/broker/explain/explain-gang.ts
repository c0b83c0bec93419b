import { freeProcessors } from '../../../bag/index.ts';
import type { Instant, ProcessorCount } from '../../../shared/index.ts';
import { mayUse } from '../placement/placed-tasks.ts';
import { isDraining } from '../machines/takes-work.ts';
import { describeRequests } from './explain-request.ts';
import { type WaitExplanation, listedMax } from './explanation.ts';
import { matchesQueue } from '../placing/matching.ts';
import { statusOfMachine } from '../queries.ts';
import { keepsAway } from '../times/remaining-time.ts';
import { describeTime, plural } from './sentences.ts';
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
export function explainGangWaiting(state: BrokerState, queue: TaskQueue, now: Instant): WaitExplanation {
  const { processors, job } = queue;
  if (job.gangsPausedUntil > now) {
    return {
      summary:
        `${plural(job.failedGangStarts, 'gang')} of its job in a row ended before it started; the next is tried in ` +
        `${describeTime(job.gangsPausedUntil - now)}.`,
      details: [],
    };
  }
  const offers = [...state.providers.values()]
    .filter((provider) => mayUse(queue, provider))
    .map((provider) => getOffer(state, { provider, queue }, now))
    .sort((one, other) => other.capacity - one.capacity);
  const details = offers.slice(0, listedMax).map((offer) => `${describeOffer(offer)}.`);
  const [widest] = offers;
  const requests = describeRequests(state, now);
  if (widest === undefined || widest.capacity < processors) {
    const most =
      widest === undefined || widest.capacity === 0
        ? 'none has a machine that could be a member'
        : `the one with most, ${widest.provider.providerId}, has ${widest.capacity}`;
    return {
      summary: `it wants ${processors} processors of one provider, and ${most}.`,
      details: [...details, ...requests],
    };
  }
  const nearest = offers.reduce(
    (best, offer) => (offer.capacity >= processors && offer.free > best.free ? offer : best),
    widest,
  );
  return {
    summary:
      `it is gathered: ${nearest.free} of its ${processors} processors are free at ` +
      `${nearest.provider.providerId}, unless a gang that waits for longer is gathered there.`,
    details: [...details, ...requests],
  };
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

function describeOffer({ provider, capacity, free, tooOldCount }: Offer): string {
  const { providerId, isConnected } = provider;
  if (!isConnected) return `${providerId} is away`;
  if (isDraining(provider)) return `${providerId} is draining`;
  const tooOld =
    tooOldCount === 0
      ? ''
      : `; ${plural(tooOldCount, 'machine')} there cannot be a member, because its agent or its provider is of an ` +
        'earlier release';
  return `${providerId} has ${plural(capacity, 'processor')} that it could use, ${free} of them free${tooOld}`;
}

/** Where a gang is, as a part of a sentence. */
export function describeGang(
  { members, status, heldCount, job: { processors }, placedAt }: BrokerGang,
  now: Instant,
): string {
  const places = members
    .slice(0, listedMax)
    .map((replica) => `${replica.machine.facts.machineId} with ${replica.processors}`)
    .join(', ');
  const more = members.length > listedMax ? ` and ${members.length - listedMax} more` : '';
  const where = `${plural(processors, 'processor')} of ${plural(members.length, 'machine')}: ${places}${more}`;
  if (status === 'started') return `runs on ${where}`;
  return `is gathered for ${describeTime(now - placedAt)}, ${heldCount} of ${members.length} held, on ${where}`;
}
