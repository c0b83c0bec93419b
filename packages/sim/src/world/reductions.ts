import type { WorldFailure } from './run-world.ts';
import {
  calmFaults,
  honestManager,
  type ClusterPlan,
  type JobPlan,
  type LabMachinePlan,
  type LabPlan,
  type Scenario,
} from './scenario.ts';

/** Smaller scenarios than this one, the boldest first; those that are the same count for nothing. */
export type Reduction = (scenario: Scenario, failure: WorldFailure) => readonly Scenario[];

/** Smaller ones of a part of a scenario. */
type PartReduction<Part> = (part: Part) => readonly Part[];

/** All ways to make a scenario smaller: first what takes much away, then field by field. */
export function listReductions({ jobs, clusters, labs }: Scenario): Reduction[] {
  return [
    ...wholeReductions,
    ...jobs.flatMap((_, index) =>
      jobReductions.map(
        (reduce): Reduction =>
          (scenario) =>
            reduceAt(scenario.jobs, index, reduce).map((changed) => ({ ...scenario, jobs: changed })),
      ),
    ),
    ...clusters.flatMap((_, index) =>
      clusterReductions.map(
        (reduce): Reduction =>
          (scenario) =>
            reduceAt(scenario.clusters, index, reduce).map((changed) => ({ ...scenario, clusters: changed })),
      ),
    ),
    ...labs.flatMap((_, index) =>
      labReductions.map(
        (reduce): Reduction =>
          (scenario) =>
            reduceAt(scenario.labs, index, reduce).map((changed) => ({ ...scenario, labs: changed })),
      ),
    ),
  ];
}

const faultNames = [
  'crashesPerHour',
  'fallsPerHour',
  'pausesPerHour',
  'cutsPerHour',
  'breaksPerHour',
  'fullDisksPerHour',
  'skewMax',
  'pauseMax',
  'cutMax',
] as const;

const wholeReductions: readonly Reduction[] = [
  (scenario) => fewer(scenario.jobs).map((jobs) => ({ ...scenario, jobs })),
  (scenario) => fewer(scenario.clusters).map((clusters) => ({ ...scenario, clusters })),
  (scenario) => fewer(scenario.labs).map((labs) => ({ ...scenario, labs })),
  // A storm that ends right after the failure is the same up to it.
  (scenario, { phase, after }) =>
    (phase === 'storm' ? [after + 1] : [0, half(scenario.stormDuration)]).map((stormDuration) =>
      shortenStorm(scenario, stormDuration),
    ),
  (scenario) => [{ ...scenario, faults: calmFaults }],
  ...faultNames.map(
    (name): Reduction =>
      (scenario) =>
        [0, half(scenario.faults[name])].map((value) => ({
          ...scenario,
          faults: { ...scenario.faults, [name]: value },
        })),
  ),
  ...(['lossProbability', 'duplicateProbability', 'delayMax'] as const).map(
    (name): Reduction =>
      (scenario) => [{ ...scenario, network: { ...scenario.network, [name]: 0 } }],
  ),
  ({ faults: { journalLossesPerHour, ...faults }, ...scenario }) =>
    journalLossesPerHour === undefined ? [] : [{ ...scenario, faults }],
  ({ faults: { clockStepsPerHour, ...faults }, ...scenario }) =>
    clockStepsPerHour === undefined ? [] : [{ ...scenario, faults }],
  ({ heuristicSwitchesPerHour: _left, ...scenario }) => [scenario],
  ({ drainsPerHour: _left, ...scenario }) => [scenario],
  ({ choreFailureProbability: _left, ...scenario }) => [scenario],
  ({ stuckTaskProbability: _left, ...scenario }) => [scenario],
  ({ managerAways: _left, ...scenario }) => [scenario],
  ({ lease: _left, ...scenario }) => [scenario],
  ({ lease, ...scenario }) =>
    lease === undefined
      ? []
      : [
          { ...scenario, lease: { ...lease, sleepsPerHour: 0 } },
          { ...scenario, lease: { ...lease, sleepMax: half(lease.sleepMax) } },
        ],
  (scenario) => [{ ...scenario, turnDelayMax: 0 }],
];

function shortenStorm(scenario: Scenario, stormDuration: number): Scenario {
  return { ...scenario, stormDuration: Math.min(scenario.stormDuration, stormDuration) };
}

const jobReductions: readonly PartReduction<JobPlan>[] = [
  (job) =>
    [1, half(job.taskCount)]
      .filter((taskCount) => taskCount >= 1)
      .map((taskCount) => ({ ...job, taskCount, brokenTaskCount: Math.min(job.brokenTaskCount, taskCount) })),
  ({ cancelledAfter: _left, ...job }) => [job],
  ({ failedTasksMax: _left, ...job }) => [job],
  ({ tasksCancelledAfter: _left, ...job }) => [job],
  ({ retriedAfter: _left, ...job }) => [job],
  ({ runningMax: _left, ...job }) => [job],
  ({ priority: _left, ...job }) => [job],
  ({ updatedAfter: _left, ...job }) => [job],
  ({ heldAfter: _left, ...job }) => [job],
  ({ awaits: _left, ...job }) => [job],
  ({ beginsAfter: _left, ...job }) => [job],
  ({ expiresAfter: _left, ...job }) => [job],
  ({ reservation: _left, ...job }) => [job],
  ({ reservation, ...job }) =>
    reservation?.moves === undefined
      ? []
      : fewer(reservation.moves).map((moves) => ({ ...job, reservation: { ...reservation, moves } })),
  ({ predecessorsMax: _left, ...job }) => [job],
  ({ gangProcessors: _left, ...job }) => [job],
  ({ siteSelection: _left, ...job }) => [job],
  ({ voteCount: _left, ...job }) => [job],
  ({ credibility: _left, ...job }) => [job],
  ({ scheduler: _left, ...job }) => [job],
  ({ replicationCap: _left, ...job }) => [job],
  (job) => [
    { ...job, submittedAfter: 0 },
    { ...job, submittedAfter: half(job.submittedAfter) },
  ],
  (job) => [{ ...job, brokenTaskCount: 0, failureProbability: 0, failuresMax: 1 }],
  (job) => [{ ...job, inputCount: 0 }],
  (job) => [
    { ...job, isChecked: false, hasOutput: false },
    { ...job, isChecked: false },
    { ...job, hasOutput: false },
  ],
  (job) => [{ ...job, replicasMax: 1 }],
  (job) => [{ ...job, spread: 0 }],
  (job) => [
    { ...job, meanTaskTime: Math.min(job.meanTaskTime, 1000) },
    { ...job, meanTaskTime: Math.max(1, half(job.meanTaskTime)) },
  ],
];

const clusterReductions: readonly PartReduction<ClusterPlan>[] = [
  (cluster) =>
    [1, half(cluster.processors)]
      .filter((processors) => processors >= 1)
      .map((processors) => ({ ...cluster, processors, widthMax: Math.min(cluster.widthMax, processors) })),
  (cluster) => [{ ...cluster, widthMax: 1 }],
  (cluster) => [{ ...cluster, requestsMax: 1 }],
  (cluster) => [{ ...cluster, localPerHour: 0 }],
  ({ local = [], ...cluster }) =>
    local.length === 0 ? [] : [cluster, ...fewer(local).map((left) => ({ ...cluster, local: left }))],
  ({ isWatched: _left, ...cluster }) => [cluster],
  ({ holding: _left, ...cluster }) => [cluster],
  ({ perHour: _left, ...cluster }) => [cluster],
  ({ firstRequests: _left, ...cluster }) => [cluster],
  ({ nodeLossesPerHour: _left, ...cluster }) => [cluster],
  ({ signalsTasks: _left, ...cluster }) => [cluster],
  ({ preemptionsPerHour: _left, ...cluster }) => [cluster],
  (cluster) => [{ ...cluster, faults: honestManager }],
  ...(Object.keys(honestManager) as (keyof typeof honestManager)[]).map(
    (name): PartReduction<ClusterPlan> =>
      (cluster) => [{ ...cluster, faults: { ...cluster.faults, [name]: 0 } }],
  ),
  (cluster) => [{ ...cluster, speedSpread: 0 }],
  (cluster) => [{ ...cluster, heuristic: 'static' }],
  (cluster) => [{ ...cluster, compression: 'start-now' }],
  ({ order: _left, ...cluster }) => [cluster],
];

const labReductions: readonly PartReduction<LabPlan>[] = [
  (lab) => fewer(lab.machines).map((machines) => ({ ...lab, machines })),
  ({ upTime: _left, ...lab }) => [lab],
  (lab) => [{ ...lab, machines: lab.machines.map(({ downs: _left, ...machine }) => machine) }],
  (lab) => [{ ...lab, machines: lab.machines.map((machine): LabMachinePlan => ({ ...machine, isLiar: false })) }],
  (lab) => [{ ...lab, machines: lab.machines.map(({ sabotage: _left, ...machine }) => machine) }],
  (lab) => [{ ...lab, machines: lab.machines.map((machine): LabMachinePlan => ({ ...machine, speed: 1 })) }],
  (lab) => [{ ...lab, machines: lab.machines.map((machine): LabMachinePlan => ({ ...machine, processors: 1 })) }],
  (lab) => [{ ...lab, downTime: Math.min(lab.downTime, 1000) }],
];

/** A list without its second half, its first, or one of its elements. */
function fewer<T>(list: readonly T[]): readonly (readonly T[])[] {
  const middle = Math.ceil(list.length / 2);
  const halves = list.length > 2 ? [list.slice(0, middle), list.slice(middle)] : [];
  return [...halves, ...list.map((_, left) => list.filter((_element, index) => index !== left))];
}

function reduceAt<T>(list: readonly T[], index: number, reduce: PartReduction<T>): readonly (readonly T[])[] {
  const part = list[index];
  return part === undefined
    ? []
    : reduce(part).map((changed) => list.map((each, at) => (at === index ? changed : each)));
}

function half(value: number): number {
  return Math.floor(value / 2);
}
