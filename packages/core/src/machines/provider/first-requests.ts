import type { DraftedRequest, RequestFacts, RequestHeuristic } from '../../requests/index.ts';
import type { Reason } from '../../reasons/index.ts';
import type { Duration } from '../../shared/index.ts';
import type { KnownBroker, ProviderState } from './state.ts';

/**
 * Beyond the run time that users state, as a share of it: an agent starts, and inputs come, within the walltime too.
 */
const statedMargin = 0.25;
/**
 * A request that completed no task and held its processors for this share of its walltime was too short for one; some
 * managers end requests a little early.
 */
const heldShare = 0.9;

/** How the requests of one decision are kept small. */
export interface FirstBound {
  /** What the heuristic may look at: limits that are smaller than the resource's. */
  readonly facts: RequestFacts;
  /** How long tasks have run, at least, without an end; 0 where none has run. */
  readonly outlasted: Duration;
  /** The longest run time that users state; 0 where none does. */
  readonly stated: Duration;
  /** Whether walltimes are shorter than the resource would give. */
  readonly isShort: boolean;
  /** Request slots that are left free until more is known. */
  readonly withheld: number;
}

/**
 * Keeps requests few and short while the task times of a demand are unknown: a request that is far too large waits
 * long, and delays others.
 *
 * Free processors are used in full; beyond them few requests wait. Both bounds double as tasks outlast them, up to what
 * the resource gives, so that a task of any length that fits there gets a request that holds it. Undefined once a task
 * has ended, here or elsewhere, if the owner of the provider set no bounds, and under a heuristic that is meant for
 * tasks that are known to be long.
 *
 * @param facts as the heuristic would get them without bounds.
 */
export function boundFirstRequests(
  { config }: ProviderState,
  heuristic: RequestHeuristic,
  { demand }: KnownBroker,
  facts: RequestFacts,
): FirstBound | undefined {
  const { firstRequests } = config;
  const { limits, taskTimes, taskTimesElsewhere, pending, listing } = facts;
  const isKnown = (taskTimes !== undefined && taskTimes.count > 0) || taskTimesElsewhere?.median !== undefined;
  if (firstRequests === undefined || isKnown || heuristic.expectsLongTasks === true) return undefined;
  const outlasted = outlastedIn(facts);
  const stated = demand?.statedTime ?? 0;
  let growth = 1;
  while (firstRequests.walltime * growth < 2 * outlasted) growth *= 2;
  const wanted = Math.max(firstRequests.walltime * growth, Math.ceil(stated * (1 + statedMargin)));
  const walltimeMax = Math.min(
    limits.walltimeMax,
    Math.ceil(wanted / limits.walltimeGranularity) * limits.walltimeGranularity,
  );
  // As many as use what is free, at the largest width, and a few that wait.
  const waitingMax =
    Math.ceil(listing.processorsFree / Math.max(1, limits.widthMax)) + firstRequests.waitingMax * growth;
  const waiting = pending.filter(({ status }) => status !== 'running').length;
  // Not below what is pending: fewer slots than that would mean that the resource has taken some away.
  const requestsMax = Math.min(limits.requestsMax, pending.length + Math.max(0, waitingMax - waiting));
  return {
    facts: { ...facts, limits: { ...limits, walltimeMax, requestsMax }, unlistedTime: limits.walltimeMax },
    outlasted,
    stated,
    isShort: walltimeMax < limits.walltimeMax,
    withheld: limits.requestsMax - requestsMax,
  };
}

/** For how long a task has run here without an end, or a request was held without one. */
function outlastedIn({ pending, cutOff = [], served, idleHeldTime = 0 }: RequestFacts): Duration {
  const running = pending.flatMap(({ tasks = [] }) => tasks);
  const outlasted = [...running, ...cutOff].reduce((most, { time }) => Math.max(most, time), idleHeldTime);
  return served.reduce((most, { taskTime, startedAt, endedAt, walltime }) => {
    const held = endedAt - startedAt;
    return taskTime === 0 && held >= heldShare * walltime ? Math.max(most, Math.min(held, walltime)) : most;
  }, outlasted);
}

/** The drafts with a first reason that says why they are small, where they are. */
export function explainFirstRequests(
  bound: FirstBound | undefined,
  drafts: readonly DraftedRequest[],
): readonly DraftedRequest[] {
  if (bound === undefined || !isBinding(bound)) return drafts;
  const { stated: statedMs, outlasted: outlastedMs } = bound;
  return drafts.map((draft) => ({
    ...draft,
    reasons: [
      {
        code: 'first-request',
        processors: draft.width,
        walltimeMs: draft.walltime,
        isFirst: outlastedMs === 0,
        statedMs,
        outlastedMs,
      },
      ...draft.reasons,
    ],
  }));
}

/** Why the provider makes few requests, as `provider show` prints it; empty where it does not limit them. */
export function describeFirstBound(bound: FirstBound | undefined): Reason[] {
  if (bound === undefined || !isBinding(bound)) return [];
  const {
    facts: {
      limits: { walltimeMax },
      pending,
    },
    withheld,
    stated: statedMs,
    outlasted: outlastedMs,
  } = bound;
  return [
    {
      code: 'first-requests-bounded',
      walltimeMsMax: walltimeMax,
      unusedSlots: withheld,
      waitsForRequests: pending.some(({ status }) => status !== 'running'),
      statedMs,
      outlastedMs,
    },
  ];
}

function isBinding({ isShort, withheld }: FirstBound): boolean {
  return isShort || withheld > 0;
}
