import {
  bucWeights,
  easyBackfilling,
  firstComeFirstServed,
  usualLeadMax,
  type BucOrder,
  type QueuePolicy,
} from '@mutirao/core/queue';
import type { Duration, ProcessorCount } from '@mutirao/core/shared';

/** What of the study is run. */
export interface BucSettings {
  readonly isQuick: boolean;
  readonly seed: string;
}

/** A log and its machine. */
export interface BucLog {
  readonly id: string;
  readonly title: string;
  /** In the folder of the logs. */
  readonly file: string;
  readonly processors: ProcessorCount;
}

/** The logs: those with users, requested times and a queue that stand for Grid'5000 Lille. */
export const bucLogs: readonly BucLog[] = [
  { id: 'sp2', title: 'SDSC SP2', file: 'swf/SDSC-SP2-1998-4.2-cln.swf.gz', processors: 128 },
  { id: 'das2', title: 'DAS-2 fs1', file: 'grid/DAS2-fs1-2003-1.swf.gz', processors: 64 },
];

/** What submission times are multiplied by. */
export const loadFactors: readonly number[] = [1, 0.7];

/** A policy with the order of its queue. */
export interface Service {
  readonly name: string;
  readonly policy: QueuePolicy;
  /** Undefined for the order of arrival. */
  readonly order: BucOrder | undefined;
}

/** The seed's K. @param leadMaxOf the bound on the lead for a weight. */
function getServices(
  policy: QueuePolicy,
  [base, suffix]: readonly [base: string, suffix: string],
  leadMaxOf: (weight: number) => Duration,
): ServiceFamily['services'] {
  const [small = 1, large = 1] = bucWeights;
  const byScores = (weight: number): Service => ({
    name: `BUC${weight}${suffix}`,
    policy,
    order: { weight, leadMax: leadMaxOf(weight) },
  });
  return [{ name: base, policy, order: undefined }, byScores(small), byScores(large)];
}

/** The seed's formula as it stands. */
const unbounded = (): Duration => Infinity;

/** Services of one kind: in the order of arrival, and by scores with either weight. */
export interface ServiceFamily {
  readonly id: string;
  readonly services: readonly [base: Service, small: Service, large: Service];
}

/**
 * The seed's; the same with the bound that the live cluster puts on the lead; and with EASY backfilling, which the seed
 * does not have.
 */
export const families: readonly [ServiceFamily, ServiceFamily, ServiceFamily] = [
  { id: 'seed', services: getServices(firstComeFirstServed, ['FCFS', ''], unbounded) },
  { id: 'bounded', services: getServices(firstComeFirstServed, ['FCFS', ' bounded'], usualLeadMax) },
  { id: 'easy', services: getServices(easyBackfilling, ['EASY', ' EASY'], unbounded) },
];

/** An injected user, whose jobs all use this share of their walltime. */
export interface InjectedUser {
  readonly userId: string;
  readonly precision: number;
  /** Mean score in the seed. */
  readonly seedScore: number;
}

/** The seed's Fictício 1 to 3. */
export const injectedUsers: readonly InjectedUser[] = [
  { userId: 'injected 0 %', precision: 0, seedScore: 4.8 },
  { userId: 'injected 50 %', precision: 0.5, seedScore: 96.14 },
  { userId: 'injected 100 %', precision: 1, seedScore: 99 },
];

/** Jobs of each injected user. */
export const injectedCount = 100;
/** Their walltime. */
export const injectedWalltime: Duration = 3_600_000;

/** Injections of each log and load. */
export function getInjections({ isQuick }: BucSettings): number {
  return isQuick ? 3 : 12;
}
