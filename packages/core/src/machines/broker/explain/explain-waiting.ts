import { freeProcessors } from '../../../bag/index.ts';
import { explainMatch } from '../../../requirements/index.ts';
import type { Reason } from '../../../reasons/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { findDrain, isDraining, listUsedProviders, takesWork } from '../machines/takes-work.ts';
import { adviseUndrain, describeDrainedMachine, describeDraining } from './explain-draining.ts';
import { explainGangWaiting } from './explain-gang.ts';
import { explainUnassigned } from './explain-site-selection.ts';
import { mayUse } from '../site-selection/assigned-tasks.ts';
import { describeLastRequest, describeRequests } from './explain-request.ts';
import { explainReservedWaiting } from './explain-reserved.ts';
import { explainLackOn, explainResources } from './explain-shortage.ts';
import { type Waiting, listedMax } from './explanation.ts';
import { isOpenTo, matchesQueue } from '../dispatch/matching.ts';
import { statusOfMachine } from '../queries.ts';
import { getNeed, keepsAway, knownNeed } from '../times/remaining-time.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import type { BrokerJob, BrokerMachine, BrokerState, TaskQueue } from '../state.ts';
import { getIdentity, isQuarantined } from '../trust/trust-records.ts';

/** Says why ready tasks of a queue do not run. */
export function explainWaiting(state: BrokerState, queue: TaskQueue, now: Instant): Waiting {
  return explainLimit(queue) ?? explainResources(state, queue, now) ?? explainOtherwise(state, queue, now);
}

function explainLimit({ job: { jobId, runningMax, onMachines } }: TaskQueue): Waiting | undefined {
  return runningMax === undefined || onMachines < runningMax
    ? undefined
    : { why: { code: 'running-max-reached', jobId, runningMax, running: onMachines }, details: [] };
}

function explainOtherwise(state: BrokerState, queue: TaskQueue, now: Instant): Waiting {
  const reserved = explainReservedWaiting(state, queue.job, now);
  if (reserved !== undefined) return reserved;
  if (queue.place === 'undecided') return explainUnassigned(state, queue, now);
  if (queue.isGang) return explainGangWaiting(state, queue, now);
  const machines = [...state.machines.values()].filter(
    ({ facts, provider }) => belongsTo(queue.job, facts.reservation) && mayUse(queue, provider),
  );
  if (machines.length === 0) return explainNoMachines(state, queue.job, now);
  const matching = machines.filter((machine) => matchesQueue(queue, machine));
  if (matching.length === 0) return explainNoMatch(state, queue, { machines, now });
  const usable = matching.filter((machine) => ['idle', 'busy'].includes(statusOfMachine(state, machine, now)));
  if (usable.length === 0) return explainNoneUsable(state, matching, now);
  const short = usable.filter((machine) => keepsAway({ state, now }, queue, machine));
  if (short.length > 0 && short.some((machine) => freeProcessors(machine) > 0))
    return explainShort({ state, now }, queue, short);
  const ahead = firstAhead(state, queue);
  return {
    why: { code: 'all-machines-busy', machines: usable.length },
    details: ahead === undefined ? [] : [describeAhead(ahead, queue.job)],
  };
}

function describeAhead({ jobId, priority }: BrokerJob, { priority: ownPriority }: BrokerJob): Reason {
  return priority > ownPriority
    ? { code: 'served-after-priority', jobId, priority, ownPriority }
    : { code: 'served-after-job', jobId };
}

/** Says why none of the machines that would do takes work. */
function explainNoneUsable(state: BrokerState, matching: readonly BrokerMachine[], now: Instant): Waiting {
  if (matching.every(({ provider }) => isDraining(provider))) {
    const draining = new Set(matching.map(({ provider }) => provider));
    return {
      why: { code: 'all-machines-draining' },
      details: [...describeDraining(draining), ...adviseUndrain(draining)],
    };
  }
  return {
    why: { code: 'no-machine-accepts', machines: matching.length },
    details: matching.slice(0, listedMax).map((machine) => explainUnusable(state, machine, now)),
  };
}

/** Machines that idle because their allocation ends too soon. */
function explainShort(
  { state, now }: { readonly state: BrokerState; readonly now: Instant },
  queue: TaskQueue,
  short: readonly BrokerMachine[],
): Waiting {
  const left = short.slice(0, listedMax).map(
    ({ facts: { machineId, until = now } }): Reason => ({
      code: 'machine-time-left',
      machineId,
      leftMs: Math.max(0, until - now),
    }),
  );
  return {
    why: { code: 'no-machine-long-enough', neededMs: getNeed(state, queue) ?? 0 },
    details: [...(queue.statedTime === undefined ? [describeNeed(state, queue.job)] : []), ...left],
  };
}

/** What says how long tasks of a job need. */
function describeNeed(state: BrokerState, job: BrokerJob): Reason {
  const { times, spec } = job;
  if (times.count === 0 || spec?.limits.runTimeMax === knownNeed(state, job)) return { code: 'needed-time-limit' };
  const seen = { completedTasks: times.count, cutOffTasks: times.censoredCount };
  const share = state.options.needShare;
  return times.quantile(share) === undefined
    ? { code: 'needed-time-longest', ...seen }
    : { code: 'needed-time-share', percent: Math.round(100 * share), ...seen };
}

function firstAhead(state: BrokerState, queue: TaskQueue): BrokerJob | undefined {
  for (const job of state.openJobs.values()) {
    if (job === queue.job) return undefined;
    if (job.queues.some((other) => other.readyCount > 0)) return job;
  }
  return undefined;
}

/** Says why a machine takes no work now. */
export function explainUnusable(state: BrokerState, machine: BrokerMachine, now: Instant): Reason {
  const { machineId, until } = machine.facts;
  const { provider } = machine;
  const { providerId, isConnected, lastError, draining } = provider;
  if (!isConnected) return { code: 'machine-provider-away', machineId, providerId, cause: lastError };
  if (draining !== undefined)
    return {
      code: 'machine-provider-draining',
      machineId,
      providerId,
      sinceUnixMs: draining.since,
      cause: draining.reason,
    };
  if (isQuarantined(state, machine)) return describeQuarantined(state, machine);
  const drain = findDrain(state, machine);
  if (drain !== undefined) return describeDrainedMachine(machine, drain);
  if (machine.isGone) return { code: 'machine-lost', machineId, providerId };
  if (!machine.isAnnounced) return { code: 'machine-unconfirmed', machineId, providerId };
  if (until !== undefined && until <= now) return { code: 'machine-allocation-over', machineId };
  return describePause(machine, now);
}

function describeQuarantined({ records }: BrokerState, { facts }: BrokerMachine): Reason {
  const { machineId } = facts;
  const evidence = records.get(getIdentity(facts))?.evidence.at(-1);
  switch (evidence?.kind) {
    case 'attribute':
    case 'report':
    case 'word':
      return { code: 'machine-quarantined', machineId, evidence: evidence.kind, cause: evidence.detail };
    default:
      return { code: 'machine-quarantined', machineId, evidence: 'result', cause: '' };
  }
}

/** Why nothing is placed on a machine before a certain time. */
function describePause({ facts, isStopping, breakages, quarantinedUntil }: BrokerMachine, now: Instant): Reason {
  const { machineId } = facts;
  const pauseMs = Math.max(0, quarantinedUntil - now);
  if (isStopping) return { code: 'machine-stopping', machineId, pauseMs };
  if (breakages === 0) return { code: 'machine-disk-full', machineId, pauseMs };
  return { code: 'machine-broke-tasks', machineId, brokenTasks: breakages, pauseMs };
}

function explainNoMatch(
  state: BrokerState,
  queue: TaskQueue,
  { machines, now }: { readonly machines: readonly BrokerMachine[]; readonly now: Instant },
): Waiting {
  const mismatches = machines.slice(0, listedMax).flatMap((machine) => explainMismatch(machine, queue));
  const further = machines.length - listedMax;
  const workFolder = queue.job.spec?.workFolder;
  return {
    why: {
      code: 'no-machine-matches',
      machines: machines.length,
      ...(workFolder === undefined ? {} : { workFolder }),
    },
    details: [
      ...mismatches,
      ...(further > 0 ? [{ code: 'further-machines', machines: further } as const] : []),
      ...describeRequests(state, now),
    ],
  };
}

/** Says what keeps a machine from running the tasks of a queue, whatever else it does. */
export function explainMismatch({ facts }: BrokerMachine, queue: TaskQueue): Reason[] {
  const { machineId, processors, onlyUser = '' } = facts;
  const reasons: Reason[] = [];
  if (!queue.isGang && processors < queue.processors)
    reasons.push({ code: 'machine-too-small', machineId, taskProcessors: queue.processors, processors });
  reasons.push(...explainLackOn(queue, facts));
  if (queue.isGang && facts.takesGangs !== true) reasons.push({ code: 'machine-takes-no-gangs', machineId });
  if (!isOpenTo(queue, facts)) reasons.push({ code: 'machine-of-one-user', machineId, userId: onlyUser });
  return [...reasons, ...explainMatch(machineId, queue.requirements, facts.attributes)];
}

function explainNoMachines(state: BrokerState, job: BrokerJob, now: Instant): Waiting {
  const providers = listUsedProviders(state);
  if (providers.length === 0) return { why: { code: 'no-provider' }, details: [] };
  const away = providers
    .filter(({ isConnected }) => !isConnected)
    .map(({ providerId, lastError }): Reason => ({ code: 'provider-away', providerId, cause: lastError }));
  const requests = describeRequests(state, now);
  const drains = describeDraining(providers);
  if (drains.length > 0 && !providers.some(takesWork))
    return {
      why: { code: 'no-machine-draining' },
      details: [...drains, ...adviseUndrain(providers), ...requests, ...away],
    };
  const more = [...away, ...drains];
  if (requests.length > 0) return { why: { code: 'no-machine-requested' }, details: [...requests, ...more] };
  return explainNothingRequested(state, job, { more, now });
}

function explainNothingRequested(
  state: BrokerState,
  { submittedAt }: BrokerJob,
  { more, now }: { readonly more: readonly Reason[]; readonly now: Instant },
): Waiting {
  const connected = [...state.providers.values()].filter(({ isConnected }) => isConnected).slice(0, listedMax);
  const ended = connected.flatMap(({ providerId }) =>
    describeLastRequest(state, { providerId, since: submittedAt, now }),
  );
  const advice = connected.map(({ providerId }): Reason => ({ code: 'advise-provider-show', providerId }));
  return {
    why: { code: ended.length === 0 ? 'no-machine-not-requested' : 'no-machine-requests-ended' },
    details: [...ended, ...advice, ...more],
  };
}
