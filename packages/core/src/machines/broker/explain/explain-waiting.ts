import { freeProcessors } from '../../../bag/index.ts';
import { explainMatch } from '../../../requirements/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { findDrain, isDraining, takesWork } from '../machines/takes-work.ts';
import { adviseUndrain, describeDrainedMachine, describeDraining } from './explain-draining.ts';
import { explainGangWaiting } from './explain-gang.ts';
import { explainUnplaced } from './explain-placement.ts';
import { mayUse } from '../placement/placed-tasks.ts';
import { describeLastRequest, describeRequests } from './explain-request.ts';
import { explainReservedWaiting } from './explain-reserved.ts';
import { describeLack, explainResources } from './explain-shortage.ts';
import { type Explanation, listedMax } from './explanation.ts';
import { isOpenTo, matchesQueue } from '../placing/matching.ts';
import { statusOfMachine } from '../queries.ts';
import { keepsAway, knownNeed } from '../times/remaining-time.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import { describeTime, plural } from './sentences.ts';
import type { BrokerJob, BrokerMachine, BrokerState, TaskQueue } from '../state.ts';
import { getIdentity, isQuarantined } from '../trust/trust-records.ts';

/** Says why ready tasks of a queue do not run. */
export function explainWaiting(state: BrokerState, queue: TaskQueue, now: Instant): Explanation {
  return explainResources(state, queue, now) ?? explainOtherwise(state, queue, now);
}

function explainOtherwise(state: BrokerState, queue: TaskQueue, now: Instant): Explanation {
  const reserved = explainReservedWaiting(state, queue.job, now);
  if (reserved !== undefined) return reserved;
  if (queue.place === 'undecided') return explainUnplaced(state, queue, now);
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
    summary: `all ${plural(usable.length, 'machine')} that it may run on are busy.`,
    details: ahead === undefined ? [] : [`Job ${ahead.jobId} was submitted before and is served first.`],
  };
}

/** Says why none of the machines that would do takes work. */
function explainNoneUsable(state: BrokerState, matching: readonly BrokerMachine[], now: Instant): Explanation {
  const draining = matching.every(({ provider }) => isDraining(provider))
    ? new Set(matching.map(({ provider }) => provider))
    : [];
  const drains = describeDraining(draining);
  if (drains !== undefined) return { summary: `${drains} and takes no new tasks.`, details: adviseUndrain(draining) };
  return {
    summary: `${plural(matching.length, 'machine')} would do, but none takes work now.`,
    details: matching.slice(0, listedMax).map((machine) => explainUnusable(state, machine, now)),
  };
}

/** Machines that idle because their allocation ends too soon. */
function explainShort(
  { state, now }: { readonly state: BrokerState; readonly now: Instant },
  { job }: TaskQueue,
  short: readonly BrokerMachine[],
): Explanation {
  const lines = short
    .slice(0, listedMax)
    .map(
      ({ facts: { machineId, until = now } }) =>
        `${machineId} has ${describeTime(Math.max(0, until - now))} left, which is too short.`,
    );
  return {
    summary: `it waits for a machine with ${describeTime(knownNeed(state, job) ?? 0)} left: ${describeNeed(state, job)}.`,
    details: lines,
  };
}

/** What says how long tasks of a job need. */
function describeNeed(state: BrokerState, job: BrokerJob): string {
  const { times, spec } = job;
  if (times.count === 0 || spec?.limits.runTimeMax === knownNeed(state, job)) return 'its limit says so';
  const by =
    `by ${plural(times.count, 'run')} that ` +
    `ended${times.censoredCount === 0 ? '' : ` and ${times.censoredCount} cut off`}`;
  const share = Math.round(100 * state.options.needShare);
  return times.quantile(state.options.needShare) === undefined
    ? `so long is the longest that is known, ${by}`
    : `${share} of 100 of its tasks end within that, ${by}`;
}

function firstAhead(state: BrokerState, queue: TaskQueue): BrokerJob | undefined {
  for (const job of state.openJobs.values()) {
    if (job === queue.job) return undefined;
    if (job.queues.some((other) => other.readyCount > 0)) return job;
  }
  return undefined;
}

/** Says why a machine takes no work now, in a sentence that begins with its name. */
export function explainUnusable(state: BrokerState, machine: BrokerMachine, now: Instant): string {
  const { machineId, until } = machine.facts;
  const { provider } = machine;
  if (!provider.isConnected) return `${machineId}: its provider is away (${provider.lastError || 'not connected'}).`;
  const drains = describeDraining([provider]);
  if (drains !== undefined) return `${machineId}: ${drains}.`;
  if (isQuarantined(state, machine)) return describeQuarantined(state, machine);
  const drain = findDrain(state, machine);
  if (drain !== undefined)
    return (
      `${machineId}: ${describeDrainedMachine(machine, drain)}; "mutirao machine undrain ${machineId}" makes it ` +
      'take work again.'
    );
  if (machine.isGone) return `${machineId}: it is gone, and its provider tells what it did before.`;
  if (!machine.isAnnounced) return `${machineId}: its provider has not told of it since it came back.`;
  if (until !== undefined && until <= now) return `${machineId}: its allocation is over.`;
  return `${machineId}: ${describePause(machine, now)}.`;
}

function describeQuarantined({ records }: BrokerState, { facts }: BrokerMachine): string {
  const evidence = records.get(getIdentity(facts))?.evidence.at(-1);
  const hint = '"mutirao machine trust" shows the evidence, "mutirao machine reset-trust" forgives it.';
  switch (evidence?.kind) {
    case 'attribute':
      return `${facts.machineId}: it is quarantined for what it states: ${evidence.detail}; ${hint}`;
    case 'report':
      return `${facts.machineId}: it is quarantined for a report that cannot be true: ${evidence.detail}; ${hint}`;
    case 'word':
      return (
        `${facts.machineId}: it was quarantined by hand${evidence.detail === '' ? '' : `: ${evidence.detail}`}; ` +
        `${hint}`
      );
    default:
      return `${facts.machineId}: it was caught with wrong results; ${hint}`;
  }
}

/** Why nothing is placed on a machine before a certain time. */
function describePause({ isStopping, breakages, quarantinedUntil }: BrokerMachine, now: Instant): string {
  const time = describeTime(quarantinedUntil - now);
  if (isStopping) return `it, or another machine of its allocation, is stopping; it gets no tasks for ${time}`;
  if (breakages === 0) return `its disk had no room for what it was given, and it is left alone for ${time}`;
  return `it broke what it was given ${plural(breakages, 'time')} in a row and is left alone for ${time}`;
}

function explainNoMatch(
  state: BrokerState,
  queue: TaskQueue,
  { machines, now }: { readonly machines: readonly BrokerMachine[]; readonly now: Instant },
): Explanation {
  const details = machines.slice(0, listedMax).map(({ facts }) => {
    const tooSmall =
      facts.processors < queue.processors
        ? [`wanted ${queue.processors} processors: the machine has ${facts.processors}`]
        : [];
    const closed = isOpenTo(queue, facts)
      ? []
      : [
          `it runs tasks of ${facts.onlyUser} only, since those of others could read the key of the grid's ` +
            'authority there',
        ];
    return (
      `${facts.machineId}: ` +
      `${[...tooSmall, ...describeLack(queue, facts), ...closed, ...explainMatch(queue.requirements, facts.attributes)].join('; ')}.`
    );
  });
  if (machines.length > listedMax) details.push(`And ${plural(machines.length - listedMax, 'more machine')}.`);
  const workFolder = queue.job.spec?.workFolder;
  const summary =
    workFolder === undefined
      ? `none of ${plural(machines.length, 'machine')} matches its requirements.`
      : `its tasks start in ${workFolder} (--in-place, --chdir), and none of ` +
        `${plural(machines.length, 'machine')} both shares that folder with home and matches its requirements.`;
  return { summary, details: [...details, ...describeRequests(state, now)] };
}

function explainNoMachines(state: BrokerState, job: BrokerJob, now: Instant): Explanation {
  if (state.providers.size === 0)
    return {
      summary: 'there are no machines, and no provider to get any from.',
      details: ['Start a grid with "mutirao up".'],
    };
  const away = [...state.providers.values()].filter((provider) => !provider.isConnected);
  const details = away.map(
    ({ providerId, lastError }) => `Provider ${providerId} is away (${lastError || 'not connected yet'}).`,
  );
  const requests = describeRequests(state, now);
  const providers = [...state.providers.values()];
  const drains = describeDraining(providers);
  if (drains !== undefined && !providers.some(takesWork))
    return {
      summary: `there are no machines: ${drains}.`,
      details: [...adviseUndrain(providers), ...requests, ...details],
    };
  if (drains !== undefined) details.push(`${drains.charAt(0).toUpperCase()}${drains.slice(1)}.`);
  if (requests.length > 0)
    return { summary: `there are no machines yet; ${requests[0]}`, details: [...requests.slice(1), ...details] };
  const there = [...state.providers.values()].filter((provider) => provider.isConnected).slice(0, listedMax);
  const ended = there.flatMap(({ providerId }) =>
    describeLastRequest(state, { providerId, since: job.submittedAt, now }),
  );
  const asking = there.map(({ providerId }) => `"mutirao provider show ${providerId}" says why it asks for none.`);
  const summary =
    ended.length === 0
      ? 'there are no machines, and no provider has asked for any.'
      : 'there are no machines, and what providers asked for has ended.';
  return { summary, details: [...ended, ...asking, ...details] };
}
