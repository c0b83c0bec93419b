import type { Estimate } from '../costa2005/statistics.ts';
import { fullCount, runRequests, type RunResult, type Setup } from './run-requests.ts';

/** What of the study is run. */
export interface ReservationStudySettings {
  readonly isQuick: boolean;
  readonly seed: string;
}

/** Runs that each mean is taken of. */
export function listRuns({ isQuick }: ReservationStudySettings): number {
  return isQuick ? 10 : 60;
}

/** A setup and what its runs came to, in the order of their seeds. */
export interface Measured {
  readonly setup: Setup;
  readonly results: readonly RunResult[];
}

/** Numbers of requests in Figure 5.1. */
export const requestCounts: readonly number[] = [50, 100, 200, 300, 400, 600, 800];

/** Shares of requests with a latest end in Figure 5.2. */
export const deadlineShares: readonly number[] = [0, 0.2, 0.4, 0.6, 0.8, 1];

/** Laxities in Figure 5.2. */
export const laxities: readonly number[] = [0, 0.5, 1, 2, 3, 4, 5];

/**
 * Requests of Figure 5.2 and of the placements: as many as have a third refused that all have a latest end and no
 * laxity, by calibration.
 */
export const steadyCount = Math.round(0.95 * fullCount);

/** Setups of Figure 5.1. */
export function listUtilisationSetups(): Setup[] {
  const algorithms = ['suvs', 'suvs-p'] as const;
  return algorithms.flatMap((algorithm) =>
    [0.2, 0.5].flatMap((deadlineShare) =>
      requestCounts.map(
        (requestCount): Setup => ({
          requestCount,
          deadlineShare,
          laxity: 'mixed',
          algorithm,
          placement: 'first-fit',
          kind: 'shared',
        }),
      ),
    ),
  );
}

/** Setups of Figure 5.2. */
export function listRefusalSetups(): Setup[] {
  return deadlineShares.flatMap((deadlineShare) =>
    laxities.map(
      (laxity): Setup => ({
        requestCount: steadyCount,
        deadlineShare,
        laxity,
        algorithm: 'suvs',
        placement: 'first-fit',
        kind: 'shared',
      }),
    ),
  );
}

/** Setups that differ in placement, of both kinds of resource. */
export function listPlacementSetups(): Setup[] {
  const rules = ['first-fit', 'min-lip', 'min-tip'] as const;
  return (['shared', 'counted'] as const).flatMap((kind) =>
    [1, 2, 5].flatMap((laxity) =>
      rules.map(
        (placement): Setup => ({
          requestCount: steadyCount,
          deadlineShare: 1,
          laxity,
          algorithm: 'suvs',
          placement,
          kind,
        }),
      ),
    ),
  );
}

/** Runs a setup. */
export function measure(setup: Setup, settings: ReservationStudySettings): Measured {
  return {
    setup,
    results: Array.from({ length: listRuns(settings) }, (_, run) => runRequests(setup, `${settings.seed}/${run}`)),
  };
}

/** The mean of a figure over runs, with half of its 95 % interval. */
export function getMean({ results }: Measured, field: keyof RunResult): Estimate {
  return estimate(results.map((result) => result[field]));
}

/** The mean of the paired differences of two setups with the same seeds. */
export function getDifference(one: Measured, other: Measured, field: keyof RunResult): Estimate {
  return estimate(one.results.map((result, run) => result[field] - (other.results[run] as RunResult)[field]));
}

function estimate(values: readonly number[]): Estimate {
  const value = values.reduce((sum, each) => sum + each, 0) / values.length;
  const variance = values.reduce((sum, each) => sum + (each - value) ** 2, 0) / (values.length - 1);
  return { value, halfInterval: 1.96 * Math.sqrt(variance / values.length) };
}

/** All runs as CSV, one a line. */
export function reservationRunsCsv(all: readonly Measured[]): string {
  const lines = all.flatMap(({ setup, results }) =>
    results.map(({ utilisation, refusedShare, movedShare }, run) =>
      [
        setup.kind,
        setup.algorithm,
        setup.placement,
        setup.requestCount,
        setup.deadlineShare,
        setup.laxity,
        run,
        ...[utilisation, refusedShare, movedShare].map((value) => value.toFixed(5)),
      ].join(','),
    ),
  );
  return `${['kind,algorithm,placement,request_count,deadline_share,laxity,run,utilisation,refused_share,moved_share', ...lines].join('\n')}\n`;
}
