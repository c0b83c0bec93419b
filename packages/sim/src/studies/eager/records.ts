import type { BagResult } from './bag-setup.ts';
import { runBag } from './run-bag.ts';
import { getPolicies, listRuns, type EagerScenario, type EagerSettings, type NamedPolicy } from './scenarios.ts';

/** A policy in a scenario, and its runs in order; those of the same place have the same rng under each policy. */
export interface PolicyRuns {
  readonly scenario: EagerScenario;
  readonly policy: NamedPolicy;
  readonly results: readonly BagResult[];
}

/** Runs a scenario under each of its policies, or some of them. */
export function runScenario(scenario: EagerScenario, settings: EagerSettings, names?: readonly string[]): PolicyRuns[] {
  return getPolicies(scenario)
    .filter(({ name }) => names?.includes(name) ?? true)
    .map((policy) => ({
      scenario,
      policy,
      results: Array.from({ length: listRuns(settings) }, (_, run) =>
        runBag({ ...scenario.setup, seed: `${settings.seed} ${run}` }, policy),
      ),
    }));
}

const header = [
  'scenario',
  'speed_max',
  'up_time_mean_ms',
  'machine_count',
  'task_count',
  'task_time_mean_ms',
  'policy',
  'scheduler',
  'replicas_max',
  'replication_budget',
  'run',
  'makespan_ms',
  'used_processor_ms',
  'losers_processor_ms',
  'killed_processor_ms',
  'replica_count',
  'transfer_count',
].join(',');

/** All runs as CSV, one a line. */
export function recordsCsv(all: readonly PolicyRuns[]): string {
  const lines = all.flatMap(({ scenario: { id, setup }, policy, results }) =>
    results.map((result, run) =>
      [
        id,
        setup.speedMax,
        setup.upTime.mean,
        setup.machineCount,
        setup.taskCount,
        setup.taskTimeMean,
        `"${policy.name}"`,
        policy.scheduler,
        policy.replicasMax,
        capName(policy),
        run,
        result.makespan,
        result.used,
        result.losers,
        result.killed,
        result.replicaCount,
        result.transferCount,
      ].join(','),
    ),
  );
  return `${[header, ...lines].join('\n')}\n`;
}

function capName({ replicationCap }: NamedPolicy): string {
  return replicationCap.kind === 'share' ? `${replicationCap.percent}%` : replicationCap.kind;
}
