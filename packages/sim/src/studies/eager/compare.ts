import { meanOfRatios, type Estimate } from '../costa2005/statistics.ts';
import type { BagResult } from './bag-setup.ts';
import type { PolicyRuns } from './records.ts';
import { reference, type EagerScenario, type NamedPolicy } from './scenarios.ts';

/** A policy and the reference, in one scenario. */
export interface Comparison {
  readonly scenario: EagerScenario;
  readonly policy: NamedPolicy;
  /** Mean makespan over the reference's; below 1 it is shorter. With the 95 % interval of paired runs. */
  readonly makespan: Estimate;
  /** In milliseconds. */
  readonly makespanMean: number;
  /** Losers' processor-time over that of accepted replicas, all runs together. */
  readonly extra: number;
  /** Likewise, of replicas whose machine left. */
  readonly killed: number;
  /** Files brought, on average. */
  readonly transfers: number;
  /** The greatest share that losers had in any run. */
  readonly extraMax: number;
}

/** Compares all policies with the reference of their scenario. */
export function compareAll(all: readonly PolicyRuns[]): Comparison[] {
  return all.map(({ scenario, policy, results }) => {
    const other = all.find((runs) => runs.scenario === scenario && runs.policy.name === reference.name)?.results ?? [];
    const used = sum(results, 'used');
    return {
      scenario,
      policy,
      makespan: meanOfRatios([
        {
          draw: scenario.id,
          reference: results.map(({ makespan }) => makespan),
          other: other.map(({ makespan }) => makespan),
        },
      ]),
      makespanMean: sum(results, 'makespan') / results.length,
      extra: sum(results, 'losers') / used,
      killed: sum(results, 'killed') / used,
      transfers: sum(results, 'transferCount') / results.length,
      extraMax: Math.max(...results.map((result) => result.losers / result.used)),
    };
  });
}

function sum(results: readonly BagResult[], field: keyof BagResult): number {
  return results.reduce((total, result) => total + result[field], 0);
}

/** The comparisons as CSV, one a line. */
export function comparisonsCsv(comparisons: readonly Comparison[]): string {
  const lines = comparisons.map(({ scenario, policy, makespan, makespanMean, extra, killed, transfers, extraMax }) =>
    [
      scenario.id,
      `"${policy.name}"`,
      Math.round(makespanMean / 1000),
      ...[makespan.value, makespan.halfInterval, extra, extraMax, killed].map((value) => value.toFixed(4)),
      transfers.toFixed(1),
    ].join(','),
  );
  return `${['scenario,policy,makespan_s_mean,makespan_ratio,makespan_ratio_half_interval,losers_over_used,losers_over_used_max,killed_over_used,transfer_count_mean', ...lines].join('\n')}\n`;
}
