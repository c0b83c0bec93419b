import { calmFaults, honestManager, type LabPlan, type Scenario } from './scenario.ts';

/** The same world where nothing goes wrong but that connections break and messages come twice: nothing may be lost for it. */
export function gentleScenario(scenario: Scenario): Scenario {
  return {
    ...scenario, faults: { ...calmFaults, breaksPerHour: 300 }, network: { ...scenario.network, lossProbability: 0, duplicateProbability: 0.1 },
    clusters: scenario.clusters.map((cluster) => ({ ...cluster, faults: honestManager })), labs: scenario.labs.map(staysUp),
  };
}

function staysUp({ machines, downTime }: LabPlan): LabPlan {
  return { machines, downTime };
}

/** The same jobs on machines of which half lie, each task on several of them at once, its results checked: many race, and few are right. */
export function racingScenario(scenario: Scenario): Scenario {
  const machines = Array.from({ length: 6 }, (_, index) => ({ processors: 1, speed: 1 + index / 100, isLiar: index % 2 === 0 }));
  return {
    ...scenario, clusters: [], labs: [{ machines, downTime: 5000, upTime: { mean: 1_800_000, shape: 0.5 } }],
    jobs: scenario.jobs.map((job) => ({
      ...job, meanTaskTime: Math.min(job.meanTaskTime, 30_000), taskCount: Math.min(job.taskCount, 10), replicasMax: 3, failuresMax: 3, hasOutput: true, isChecked: true,
      failureProbability: 0.2,
    })),
    stormDuration: Math.min(scenario.stormDuration, 1_800_000),
  };
}
