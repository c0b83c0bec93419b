import type { Duration } from '@mutirao/core/shared';
import type { BagPolicy, BagSetup } from './bag-setup.ts';

const minute: Duration = 60_000;

/** Machines and a kind of job. */
export interface EagerScenario {
  /** Of letters, digits, `-` and `.`. */
  readonly id: string;
  readonly hasData: boolean;
  readonly setup: Omit<BagSetup, 'seed'>;
}

/** A scheduler with its bounds, under a name. */
export interface NamedPolicy extends BagPolicy {
  readonly name: string;
}

/** What a study consists of; the same settings, the same results. */
export interface EagerSettings {
  /** Whether each scenario is run 20 times only. */
  readonly isQuick: boolean;
  readonly seed: string;
}

/** What everything is compared with. */
export const reference: NamedPolicy = {
  name: 'workqueue',
  scheduler: 'workqueue',
  replicasMax: 1,
  replicationCap: { kind: 'none' },
};
const wqr: NamedPolicy = { name: 'wqr', scheduler: 'wqr', replicasMax: 2, replicationCap: { kind: 'none' } };

/** The policies that are compared, the reference first. */
export const policies: readonly NamedPolicy[] = [
  reference,
  wqr,
  { ...wqr, name: 'wqr, 4 replicas', replicasMax: 4 },
  { ...wqr, name: 'wqr, idle', replicationCap: { kind: 'idle' } },
  { ...wqr, name: 'wqr, 20%', replicationCap: { kind: 'share', percent: 20 } },
  { ...wqr, name: 'wqr, 5%', replicationCap: { kind: 'share', percent: 5 } },
  { ...reference, name: 'sufferage', scheduler: 'sufferage' },
  { ...reference, name: 'min-min', scheduler: 'min-min' },
];

/** Those that are compared where tasks read large files. */
export const dataPolicies: readonly NamedPolicy[] = [
  reference,
  wqr,
  { ...wqr, name: 'storage-affinity', scheduler: 'storage-affinity' },
  { ...wqr, name: 'storage-affinity, 1 replica', scheduler: 'storage-affinity', replicasMax: 1 },
];

/** Tasks for each machine. */
export const tasksPerMachine: readonly number[] = [0.5, 1, 2, 5];
const machineCount = 20;

/** Speeds by 1 to this. */
export const speedMaxima: readonly number[] = [1, 4];
/** Means of the up-times. */
export const upTimeMeans: readonly Duration[] = [30 * minute, 240 * minute];

/** All scenarios: speeds x up-times x jobs, then those with data. */
export function listScenarios(): EagerScenario[] {
  const scenarios: EagerScenario[] = [];
  for (const hasData of [false, true]) {
    for (const speedMax of speedMaxima) {
      for (const mean of upTimeMeans) {
        for (const ratio of hasData ? [5] : tasksPerMachine)
          scenarios.push(getScenario({ speedMax, mean, ratio, hasData }));
      }
    }
  }
  return scenarios;
}

function getScenario({
  speedMax,
  mean,
  ratio,
  hasData,
}: {
  readonly speedMax: number;
  readonly mean: Duration;
  readonly ratio: number;
  readonly hasData: boolean;
}): EagerScenario {
  return {
    id: `${hasData ? 'data' : 'speed'}-${speedMax}-up-${mean / minute}min-tasks-${ratio}x`,
    hasData,
    setup: {
      machineCount,
      speedMax,
      upTime: { mean, shape: 0.5 },
      downTimeMean: 30 * minute,
      taskCount: ratio * machineCount,
      taskTimeMean: hasData ? 5 * minute : 20 * minute,
      taskTimeSpread: 0.5,
      ...(hasData ? { data: { fileCount: 20, fileSize: 3e9, bytesPerSecond: 1e7 } } : {}),
    },
  };
}

/** The policies of a scenario. */
export function getPolicies({ hasData }: EagerScenario): readonly NamedPolicy[] {
  return hasData ? dataPolicies : policies;
}

/** Paired runs of each scenario. */
export function listRuns({ isQuick }: EagerSettings): number {
  return isQuick ? 20 : 200;
}
