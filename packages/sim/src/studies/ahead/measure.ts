import {
  conservativeBackfilling,
  easyBackfilling,
  replayRequests,
  type QueuePolicy,
  type TracedRequest,
} from '@mutirao/core/queue';
import type { LeadRule } from '@mutirao/core/reservations';
import { Prng, type Duration, type ProcessorCount } from '@mutirao/core/shared';
import { LocalHistory } from '../../resource/local-history.ts';
import { studyTraces, type StudyTrace } from '../costa2005/scenarios.ts';
import { preAcquire, notice, type PreAcquiringWorld, type Held, type Reserved } from './pre-acquire.ts';

/** What of the study is run. */
export interface ProvisioningSettings {
  readonly isQuick: boolean;
  readonly seed: string;
}

const hour: Duration = 3_600_000;

/** The rules that are compared. */
export const leadRules: readonly LeadRule[] = [
  { kind: 'fixed', lead: hour / 6 },
  { kind: 'fixed', lead: hour },
  { kind: 'fixed', lead: 4 * hour },
  { kind: 'fixed', lead: 12 * hour },
  { kind: 'learned', share: 0.5 },
  { kind: 'learned', share: 0.9 },
  { kind: 'learned', share: 0.99 },
  { kind: 'forecast', margin: 0 },
  { kind: 'forecast', margin: hour },
  { kind: 'forecast', margin: 4 * hour },
];

/** How long reservations last. */
export const reservedFor: Duration = 2 * hour;
/** Their widths, as shares of the machine. */
export const widthShares: readonly number[] = [1 / 16, 1 / 4];
/** The logs. */
export const aheadTraces: readonly StudyTrace[] = studyTraces.filter(({ loadFactor }) => loadFactor === 1);

/** A queue and a width. */
export interface AheadSetup {
  readonly trace: StudyTrace;
  readonly policy: QueuePolicy;
  readonly widthShare: number;
}

/** A setup and what its reservations came to, in their order; each has a result for each rule. */
export interface ProvisioningMeasured {
  readonly setup: AheadSetup;
  readonly reservations: readonly { readonly reserved: Reserved; readonly results: readonly Held[] }[];
}

/** The policies that run a log. */
export function listPolicies(): QueuePolicy[] {
  return [easyBackfilling, conservativeBackfilling('start-now')];
}

/** Reservations of each setup. */
export function getReservations({ isQuick }: ProvisioningSettings): number {
  return isQuick ? 30 : 400;
}

/** Replays a log under a policy. @param trace requests by submission; each fits the machine. */
export function openWorld(
  { processors, walltimeMax }: StudyTrace,
  policy: QueuePolicy,
  trace: readonly TracedRequest[],
): PreAcquiringWorld {
  const starts = replayRequests(policy, processors, trace).map(({ startedAt }, index) => {
    const { width, submittedAt } = trace[index] as TracedRequest;
    return { at: startedAt, width, wait: startedAt - submittedAt };
  });
  return {
    history: new LocalHistory({ policy, processors, trace }),
    starts: starts.sort((one, other) => one.at - other.at),
    walltimeMax,
  };
}

/**
 * Makes the reservations of a setup, at instants that depend on the seed and the log alone, and holds allocations for
 * them.
 */
export function measureAhead(
  setup: AheadSetup,
  world: PreAcquiringWorld,
  settings: ProvisioningSettings,
): ProvisioningMeasured {
  const { trace, widthShare } = setup;
  const { history } = world;
  const width: ProcessorCount = Math.round(trace.processors * widthShare);
  const rng = new Prng(`${settings.seed} ${trace.id}`);
  // The first weeks of a log begin with an empty machine, and the last end with one.
  const from = history.start + 30 * 24 * hour;
  const until = (history.setup.trace.at(-1)?.submittedAt ?? from) - notice;
  const reservations = Array.from({ length: getReservations(settings) }, () => {
    const startsAt = Math.floor(from + rng.fraction() * (until - from));
    const reserved = { startsAt, endsAt: startsAt + reservedFor, width };
    return { reserved, results: preAcquire(world, reserved, leadRules) };
  });
  return { setup, reservations };
}
