import { isTimeToAsk, WaitHistory, type LeadRule } from '@mutirao/core/reservations';
import type { RequestPlan } from '@mutirao/core/queue';
import type { Duration, Instant, ProcessorCount } from '@mutirao/core/shared';
import type { LocalHistory } from '../../resource/local-history.ts';
import type { SimulatedResource } from '../../resource/simulated-resource.ts';

/** A reservation to pre-acquire an allocation for. */
export interface Reserved {
  readonly startsAt: Instant;
  readonly endsAt: Instant;
  readonly width: ProcessorCount;
}

/** A start of a local user's request. */
export interface LocalStart {
  readonly at: Instant;
  readonly width: ProcessorCount;
  readonly wait: Duration;
}

/** What came of a reservation under one rule. */
export interface Held {
  readonly askedAt: Instant;
  /** Undefined where it was given up. */
  readonly startedAt: Instant | undefined;
}

/** A queue in which allocations are held ahead. */
export interface PreAcquiringWorld {
  readonly history: LocalHistory;
  /** By time. */
  readonly starts: readonly LocalStart[];
  /** Nothing is asked for longer than that. */
  readonly walltimeMax: Duration;
}

/** A reservation is known this long before its start. */
export const notice: Duration = 24 * 3_600_000;
/** Time between two looks at the queue. */
const pollInterval: Duration = 600_000;
/** Starts that are known when the reservation is made. */
const startsKnown = 2000;

/**
 * Goes from the reservation's making on through the real queue as its local users left it, and asks as each rule says.
 *
 * @returns what came of it, in the order of the rules; all rules meet the same queue, and none meets the others'
 * requests.
 */
export function preAcquire(world: PreAcquiringWorld, reserved: Reserved, rules: readonly LeadRule[]): Held[] {
  const { history, starts, walltimeMax } = world;
  const { startsAt, endsAt, width } = reserved;
  const results = new Array<Held | undefined>(rules.length);
  const resource = history.resourceAt(startsAt - notice);
  let known = firstAfter(starts, startsAt - notice);
  const waits = new WaitHistory();
  for (const start of starts.slice(Math.max(0, known - startsKnown), known)) waits.add(start);
  for (let now = startsAt - notice; now <= startsAt; now += pollInterval) {
    resource.advance(now);
    for (let start = starts[known]; start !== undefined && start.at < now; start = starts[(known += 1)])
      waits.add(start);
    if (endsAt - now > walltimeMax) continue;
    const forecast = lazyForecast(resource.plan, now);
    for (const [index, rule] of rules.entries()) {
      if (results[index] !== undefined || !isTimeToAsk(rule, { now, startsAt, endsAt, width, waits, forecast }))
        continue;
      results[index] = { askedAt: now, startedAt: startOf(resource.clone(), reserved, now) };
    }
  }
  return results.map((result) => result ?? { askedAt: startsAt, startedAt: undefined });
}

/**
 * When a request that is made now for the rest of the reservation starts; undefined where half of the reservation is
 * over before.
 */
function startOf(
  resource: SimulatedResource,
  { startsAt, endsAt, width }: Reserved,
  askedAt: Instant,
): Instant | undefined {
  const id = resource.firstFreeId;
  const giveUpAt = (startsAt + endsAt) / 2;
  for (let now = askedAt; now <= giveUpAt; now = resource.nextInstant) {
    resource.submitLocals(now);
    if (now === askedAt) resource.submit({ id, width, walltime: endsAt - askedAt, runTime: endsAt - askedAt }, now);
    resource.endDue(now);
    if (resource.startDue(now).some((started) => started.id === id)) return now;
  }
  return undefined;
}

/**
 * Forecasts as a provider can: running requests end with their walltime, waiting ones get the first hole in the order
 * of arrival.
 */
function lazyForecast(plan: RequestPlan, now: Instant): (width: ProcessorCount, walltime: Duration) => Instant {
  return (width, walltime) => {
    const { profile, waiting } = plan.clone();
    for (const request of waiting.values()) {
      if (request.startsAt !== undefined) continue;
      const start = profile.earliestFit(request.width, request.walltime, now);
      if (start < Infinity) profile.reserve(request.width, start, start + request.walltime);
    }
    return profile.earliestFit(width, walltime, now);
  };
}

/** The first start at `instant` or later. */
function firstAfter(starts: readonly LocalStart[], instant: Instant): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle]?.at ?? Infinity) < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}
