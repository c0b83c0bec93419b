import { findSize, isAvailable, type KnownSize, widestMachine } from '../site-selection/known-size.ts';
import { choiceFor } from '../site-selection/choice-for.ts';
import { isDraining, listUsedProviders } from '../machines/takes-work.ts';
import { countWaiting } from '../site-selection/choose-resources.ts';
import { ResourceView } from '../site-selection/resource-view.ts';
import type { Reason } from '../../../reasons/index.ts';
import type { Instant, ProviderId, TaskIndex } from '../../../shared/index.ts';
import { roundAdmissibility } from '../../../site-selection/index.ts';
import type { BrokerJob, BrokerProvider, BrokerState, TaskQueue } from '../state.ts';
import { type Waiting, listedMax } from './explanation.ts';

/** Says where a task is assigned, since when and why; empty for one that is not. */
export function explainAssignment(job: BrokerJob, index: TaskIndex, now: Instant): Reason[] {
  const place = job.assigned.get(index);
  if (place === undefined) return [];
  const { provider, at, startsBy, reason, queue } = place;
  const assigned: Reason = {
    code: 'task-assigned',
    providerId: provider.providerId,
    agoMs: Math.max(0, now - at),
    cause: reason,
  };
  if (startsBy === undefined || !queue.ready.has(index)) return [assigned];
  const isLate = now > startsBy;
  return [
    assigned,
    isLate
      ? { code: 'task-start-late', lateMs: now - startsBy }
      : { code: 'task-start-expected', startMs: startsBy - now },
  ];
}

/** Says why ready tasks of a queue whose resource must be chosen have none. */
export function explainUnassigned(state: BrokerState, queue: TaskQueue, now: Instant): Waiting {
  const providerIds = [...state.providers.values()]
    .filter(({ resourceAwaitedUntil: until }) => until !== undefined && until > now)
    .map(({ providerId }) => providerId);
  if (providerIds.length > 0)
    return {
      why: { code: 'site-selection-waits-for-queues', providerIds: providerIds.slice(0, listedMax) },
      details: [],
    };
  const view = new ResourceView(state, now);
  const { table } = view.candidatesFor(queue);
  if (queue.processors > table.sets.widest)
    return { why: whyTooWide(queue, view.sizes), details: describeResources(state, queue) };
  const tasks = countWaiting(queue);
  return { why: tasks === 0 ? { code: 'site-selection-next' } : { code: 'site-selection-behind', tasks }, details: [] };
}

function whyTooWide({ processors }: TaskQueue, sizes: readonly number[]): Reason {
  const widestProcessors = Math.max(0, ...sizes);
  return processors > widestProcessors
    ? { code: 'site-selection-too-wide', taskProcessors: processors, widestProcessors }
    : { code: 'site-selection-unsuitable', taskProcessors: processors };
}

/** Says by what the tasks of a job are placed, and where. */
export function explainJobSiteSelection(state: BrokerState, job: BrokerJob): Reason[] {
  const queue = job.queues.find((one) => one.source === undefined && choiceFor(state, one) !== undefined);
  const choice = queue === undefined ? undefined : choiceFor(state, queue);
  if (choice === undefined) return [];
  const counts = new Map<ProviderId, number>();
  for (const { provider } of job.assigned.values())
    counts.set(provider.providerId, (counts.get(provider.providerId) ?? 0) + 1);
  const { strategy, admissibility } = choice;
  const isAdaptive = admissibility === 'adaptive';
  return [
    {
      code: 'job-site-selection',
      strategy: strategy.name,
      admissibility: String(roundAdmissibility(isAdaptive ? (state.choosing.adaptive?.value ?? 1) : admissibility)),
      isAdaptive,
      isDefault: job.siteSelection === undefined,
      tasksByProvider: [...counts].slice(0, listedMax).map(([providerId, count]) => `${providerId}=${count}`),
    },
  ];
}

/** Says how many tasks are placed at a provider and wait, for each job. */
export function explainAssignedAt(state: BrokerState, providerId: ProviderId): Reason[] {
  const waiting: Reason[] = [];
  for (const job of state.openJobs.values()) {
    const tasks = job.queues.reduce(
      (sum, { place, ready }) =>
        typeof place === 'object' && place.providerId === providerId ? sum + ready.size : sum,
      0,
    );
    if (tasks > 0) waiting.push({ code: 'request-assigned-tasks', providerId, jobId: job.jobId, tasks });
  }
  return waiting.slice(0, listedMax);
}

/** What is known of the resources, with why a wide enough one would not do for tasks of a queue. */
function describeResources(state: BrokerState, queue: TaskQueue): Reason[] {
  return listUsedProviders(state)
    .slice(0, listedMax)
    .map((provider): Reason => {
      const { providerId, isConnected, lastError } = provider;
      if (!isConnected) return { code: 'provider-away', providerId, cause: lastError };
      const size = findSize(state, provider);
      if (size === undefined) return { code: 'resource-size-unknown', providerId };
      return {
        code: 'resource-size',
        providerId,
        processors: size.processors,
        requestProcessorsMax: size.widthMax,
        obstacle: isDraining(provider) ? 'draining' : findObstacle(queue, provider, size),
        machineProcessorsMax: widestMachine(provider, size),
      };
    });
}

/** Why the machines of a resource that is wide enough are not for the tasks of a queue. */
function findObstacle(
  queue: TaskQueue,
  provider: BrokerProvider,
  size: KnownSize,
): 'none' | 'small-machines' | 'requirements' {
  if (size.widthMax < queue.processors || isAvailable(queue, provider, size)) return 'none';
  return !queue.isGang && widestMachine(provider, size) < queue.processors ? 'small-machines' : 'requirements';
}
