import { findSize, isAvailable, type KnownSize, widestMachine } from '../placement/known-size.ts';
import { choiceFor } from '../placement/choice-for.ts';
import { isDraining } from '../machines/takes-work.ts';
import { countWaiting } from '../placement/choose-resources.ts';
import { ResourceView } from '../placement/resource-view.ts';
import { describeTime, type Instant, type ProviderId, plural, type TaskIndex } from '../../../shared/index.ts';
import { type PlacementChoice, showAdmissibility } from '../../../placement/index.ts';
import type { BrokerJob, BrokerProvider, BrokerState, TaskQueue } from '../state.ts';
import { type WaitExplanation, listedMax } from './explanation.ts';

/** Says where a task is placed, since when and why; nothing of one that is not. */
export function explainPlace(job: BrokerJob, index: TaskIndex, now: Instant): string[] {
  const place = job.placed.get(index);
  if (place === undefined) return [];
  const {
    provider: { providerId },
    at,
    startsBy,
    reason,
    queue,
  } = place;
  const placed = `Placed at ${providerId} ${describeTime(Math.max(0, now - at))} ago: ${reason}.`;
  if (startsBy === undefined || !queue.ready.has(index)) return [placed];
  return [
    placed,
    now <= startsBy
      ? `It is to start there in ${describeTime(startsBy - now)}, as was foreseen then.`
      : `It was to start there ${describeTime(now - startsBy)} ago, as was foreseen then.`,
  ];
}

/** Says why ready tasks of a queue that are to be placed have no place. */
export function explainUnplaced(state: BrokerState, queue: TaskQueue, now: Instant): WaitExplanation {
  const awaited = [...state.providers.values()]
    .filter(({ resourceAwaitedUntil: until }) => until !== undefined && until > now)
    .map(({ providerId }) => providerId);
  if (awaited.length > 0)
    return {
      summary:
        `it has no place yet: ${awaited.slice(0, listedMax).join(', ')} ${awaited.length === 1 ? 'is' : 'are'} ` +
        'waited for to tell how the queue stands.',
      details: [],
    };
  const view = new ResourceView(state, now);
  const { table } = view.candidatesFor(queue);
  if (queue.processors > table.sets.widest) {
    const widest = Math.max(0, ...view.sizes);
    const why =
      queue.processors > widest
        ? `no resource has ${plural(queue.processors, 'processor')}; the widest has ${widest}`
        : `none of the resources that have ${plural(queue.processors, 'processor')} would do`;
    return { summary: `it has no place: ${why}.`, details: describeResources(state, queue) };
  }
  const waiting = countWaiting(queue);
  if (waiting === 0) return { summary: 'it has no place yet: it gets one in the next step.', details: [] };
  return {
    summary:
      `it has no place yet: ${plural(waiting, 'task')} of its job ${waiting === 1 ? 'is' : 'are'} placed and ` +
      `${waiting === 1 ? 'waits' : 'wait'}, and it comes behind them.`,
    details: [],
  };
}

/** Says by what the tasks of a job are placed, and where. */
export function explainJobPlacement(state: BrokerState, job: BrokerJob): string[] {
  const queue = job.queues.find((one) => one.source === undefined && choiceFor(state, one) !== undefined);
  const choice = queue === undefined ? undefined : choiceFor(state, queue);
  if (choice === undefined) return [];
  const counts = new Map<ProviderId, number>();
  for (const {
    provider: { providerId },
  } of job.placed.values())
    counts.set(providerId, (counts.get(providerId) ?? 0) + 1);
  const where = [...counts]
    .slice(0, listedMax)
    .map(([providerId, count]) => `${count} at ${providerId}`)
    .join(', ');
  return [
    'Tasks of several processors are placed by ' +
      `${describeChoice(state, choice)}${job.placement === undefined ? ', as the grid does by default' : ''}: ` +
      `${where === '' ? 'none is now' : where}.`,
  ];
}

function describeChoice({ choosing }: BrokerState, { strategy, admissibility }: PlacementChoice): string {
  if (admissibility !== 'adaptive') return `${strategy.name} with a = ${showAdmissibility(admissibility)}`;
  return `${strategy.name} with an a that follows the load, ${showAdmissibility(choosing.adaptive?.value ?? 1)} now`;
}

/** Says how many tasks are placed at a provider and wait. */
export function explainPlacedAt(state: BrokerState, providerId: ProviderId): string[] {
  const waiting: string[] = [];
  for (const job of state.openJobs.values()) {
    const count = job.queues.reduce(
      (sum, { place, ready }) =>
        typeof place === 'object' && place.providerId === providerId ? sum + ready.size : sum,
      0,
    );
    if (count > 0) waiting.push(`${plural(count, 'task')} of job ${job.jobId}`);
  }
  return waiting.length === 0
    ? []
    : [
        `Placed at ${providerId} and waiting: ` +
          `${waiting.slice(0, listedMax).join(', ')}${waiting.length > listedMax ? ' and others' : ''}.`,
      ];
}

/** What is known of the resources, a sentence each, with why a wide enough one would not do for tasks of a queue. */
function describeResources(state: BrokerState, queue: TaskQueue): string[] {
  return [...state.providers.values()].slice(0, listedMax).map((provider) => {
    const { providerId, isConnected } = provider;
    if (!isConnected) return `${providerId} is away.`;
    const size = findSize(state, provider);
    if (size === undefined) return `${providerId} has told of no processors.`;
    const why = isDraining(provider) ? ', and is draining' : describeUnsuitable(queue, provider, size);
    return (
      `${providerId} has ` +
      `${plural(size.processors, 'processor')}${size.widthMax < size.processors ? `, ${size.widthMax} at once` : ''}${why}.`
    );
  });
}

/**
 * Why the machines of a resource that is wide enough are not for the tasks of a queue; empty of one that is not, and of
 * one whose machines are.
 */
function describeUnsuitable(queue: TaskQueue, provider: BrokerProvider, size: KnownSize): string {
  if (size.widthMax < queue.processors || isAvailable(queue, provider, size)) return '';
  const most = widestMachine(provider, size);
  return !queue.isGang && most < queue.processors
    ? `, on machines of ${most} at most`
    : ', on machines that do not meet the requirements';
}
