import { Prng, type Duration } from '@mutirao/core/shared';
import type { NodeFailures } from '@mutirao/formats';
import type { DownTime, LabMachinePlan, Scenario } from './scenario.ts';

/** A log of failures as a scenario uses it. */
export interface FailureLog {
  /** At least one, each with a failure at least. */
  readonly nodes: readonly NodeFailures[];
  /** Times are divided by it: the nodes of a cluster fail too seldom for what a lab goes through. More than 0. */
  readonly factor: number;
}

/**
 * The scenario with lab machines that fail as nodes of a log did: each as a random node, from a random failure of it
 * on. A scenario without a lab stays as it is.
 */
export function withFailures(scenario: Scenario, log: FailureLog): Scenario {
  const rng = new Prng(`failures ${scenario.seed}`);
  return {
    ...scenario,
    labs: scenario.labs.map((lab) => ({
      ...lab,
      machines: lab.machines.map((machine) => failLike(machine, log, { rng, stormDuration: scenario.stormDuration })),
    })),
  };
}

function failLike(
  machine: LabMachinePlan,
  { nodes, factor }: FailureLog,
  { rng, stormDuration }: { readonly rng: Prng; readonly stormDuration: Duration },
): LabMachinePlan {
  const { downs = [] } = nodes[rng.below(nodes.length)] ?? {};
  const first = rng.below(Math.max(1, downs.length));
  // The first failure comes somewhere in the first half of the storm.
  const lead = rng.below(Math.max(1, Math.floor(stormDuration / 2)));
  const origin = downs[first]?.start ?? 0;
  const shrunk = downs.slice(first).map(
    ({ start, end }): DownTime => ({
      after: lead + Math.round((start - origin) / factor),
      duration: Math.ceil((end - start) / factor),
    }),
  );
  return { ...machine, downs: shrunk.filter(({ after }) => after < stormDuration) };
}
