import { drawFinishing, drawHolding } from './draw-scenario.ts';
import {
  calmFaults,
  honestManager,
  type ClusterPlan,
  type JobPlan,
  type LabMachinePlan,
  type LabPlan,
  type ReservationPlan,
  type Scenario,
} from './scenario.ts';

const usualCluster: ClusterPlan = {
  processors: 8,
  requestsMax: 2,
  widthMax: 8,
  walltimeMax: 600_000,
  compression: 'reinsert',
  heuristic: 'static',
  localPerHour: 20,
  speedSpread: 0,
  faults: honestManager,
};

/**
 * The same world where nothing goes wrong but that connections break and messages come twice: nothing may be lost for
 * it.
 */
export function gentleScenario(scenario: Scenario): Scenario {
  return {
    ...scenario,
    choreFailureProbability: 0,
    stuckTaskProbability: 0,
    faults: { ...calmFaults, breaksPerHour: 300 },
    network: { ...scenario.network, lossProbability: 0, duplicateProbability: 0.1 },
    clusters: scenario.clusters.map((cluster) => ({ ...cluster, faults: honestManager, nodeLossesPerHour: 0 })),
    labs: scenario.labs.map(staysUp),
  };
}

function staysUp({ machines, downTime }: LabPlan): LabPlan {
  return { machines, downTime };
}

/**
 * The same jobs on machines half of which lie, each task on several of them at once, its results checked: many race,
 * and few are right.
 */
export function racingScenario(scenario: Scenario): Scenario {
  const machines = Array.from({ length: 6 }, (_, index) => ({
    processors: 1,
    speed: 1 + index / 100,
    isLiar: index % 2 === 0,
  }));
  return {
    ...scenario,
    clusters: [],
    labs: [{ machines, downTime: 5000, upTime: { mean: 1_800_000, shape: 0.5 } }],
    jobs: scenario.jobs.map((job) => ({
      ...job,
      meanTaskTime: Math.min(job.meanTaskTime, 30_000),
      taskCount: Math.min(job.taskCount, 10),
      replicasMax: 3,
      failuresMax: 3,
      hasOutput: true,
      isChecked: true,
      failureProbability: 0.2,
    })),
    stormDuration: Math.min(scenario.stormDuration, 1_800_000),
  };
}

/**
 * The racing world with a user who cancels each job while it runs and retries it at once, while its tasks are being
 * ended.
 */
export function regretfulScenario(scenario: Scenario): Scenario {
  const racing = racingScenario(scenario);
  const regret = { cancelledAfter: 15_000, tasksCancelledAfter: 12_000, retriedAfter: 15_010 };
  return {
    ...racing,
    stuckTaskProbability: 0.3,
    jobs: racing.jobs.map((job) => ({ ...job, meanTaskTime: Math.max(job.meanTaskTime, 10_000), ...regret })),
  };
}

/**
 * The same jobs where most ask for memory, GPUs or licences and others do not, on machines of a lab of which few have
 * all of it.
 */
export function resourcefulScenario(scenario: Scenario): Scenario {
  const asks: readonly JobPlan['asks'][] = [
    { memory: 20, gpus: 0, licences: 0, peak: 70 },
    { memory: 4, gpus: 500, licences: 0 },
    { memory: 0, gpus: 2000, licences: 1 },
    undefined,
    { memory: 40, gpus: 0, licences: 1 },
    { memory: 1, gpus: 1000, licences: 0 },
    { memory: 3, gpus: 0, licences: 0, peak: 30 },
  ];
  const machines: readonly LabMachinePlan[] = [
    { processors: 4, speed: 1, isLiar: false, has: { memory: 64, gpus: 2, licences: 2 } },
    { processors: 8, speed: 1.2, isLiar: false, has: { memory: 24, gpus: 1, licences: 0 } },
    { processors: 2, speed: 0.8, isLiar: false, has: { memory: 100, gpus: 3, licences: 1 } },
    { processors: 2, speed: 1, isLiar: false },
  ];
  const jobs = [...scenario.jobs, ...scenario.jobs, ...scenario.jobs].slice(0, Math.max(4, scenario.jobs.length));
  return {
    ...scenario,
    labs: [{ machines, downTime: 20_000, upTime: { mean: 900_000, shape: 0.7 } }],
    stormDuration: Math.min(scenario.stormDuration, 1_800_000),
    jobs: jobs.map(({ reservation: _left, voteCount: _votes, credibility: _credibility, ...job }, index): JobPlan => {
      const { gangProcessors: _gang, siteSelection: _site_selection, ...alone } = job;
      const own = asks[index % asks.length];
      return {
        ...alone,
        taskCount: Math.min(40, Math.max(job.taskCount, 10)),
        meanTaskTime: Math.min(job.meanTaskTime, 40_000),
        ...(own === undefined ? {} : { asks: own }),
      };
    }),
  };
}

/**
 * The same jobs where most ask for memory or GPUs, on a cluster of unequal nodes that has all of it, next to its local
 * users.
 */
export function nodesScenario(scenario: Scenario): Scenario {
  const unit = 2 ** 27;
  const asks: readonly JobPlan['asks'][] = [
    { memory: 2 * unit, gpus: 0, licences: 0, peak: 7 * unit },
    { memory: unit, gpus: 500, licences: 0 },
    undefined,
    { memory: 0, gpus: 2000, licences: 0 },
    { memory: 4 * unit, gpus: 1000, licences: 0 },
    { memory: 12 * unit, gpus: 0, licences: 0 },
  ];
  const nodes = [
    { processors: 4, memory: 16 * unit, gpus: 0 },
    { processors: 2, memory: 8 * unit, gpus: 2 },
    { processors: 3, memory: 5 * unit, gpus: 1 },
  ];
  const [cluster = usualCluster] = scenario.clusters;
  const { nodeLossesPerHour: _losses, holding: _holding, ...usual } = cluster;
  const local = (cluster.local ?? []).map((request) => ({ ...request, width: Math.min(request.width, 9) }));
  const jobs = [...scenario.jobs, ...scenario.jobs, ...scenario.jobs].slice(0, Math.max(4, scenario.jobs.length));
  return {
    ...scenario,
    labs: [],
    clusters: [{ ...usual, processors: 9, widthMax: 9, nodes, local }],
    stormDuration: Math.min(scenario.stormDuration, 1_800_000),
    jobs: jobs.map(({ reservation: _left, voteCount: _votes, credibility: _credibility, ...job }, index): JobPlan => {
      const { gangProcessors: _gang, siteSelection: _siteSelection, ...alone } = job;
      const own = asks[index % asks.length];
      return {
        ...alone,
        taskCount: Math.min(20, Math.max(job.taskCount, 5)),
        meanTaskTime: Math.min(job.meanTaskTime, 40_000),
        ...(own === undefined ? {} : { asks: own }),
      };
    }),
  };
}

/**
 * The same jobs on a cluster that is hard to talk to: calls get lost and come twice, its manager lags and lies, and
 * processes crash.
 */
export function doubtfulScenario(scenario: Scenario): Scenario {
  const [cluster] = scenario.clusters;
  const faults = {
    listingFails: 0.1,
    listingLags: 0.3,
    listingLies: 0.3,
    startsLate: 0,
    startsNothing: 0.1,
    startsTwice: 0.1,
  };
  return {
    ...scenario,
    labs: [],
    clusters: [{ ...(cluster ?? usualCluster), faults }],
    network: { ...scenario.network, lossProbability: 0.3, duplicateProbability: 0.1 },
    faults: { ...calmFaults, crashesPerHour: 20, breaksPerHour: 20 },
    stormDuration: Math.min(scenario.stormDuration, 1_800_000),
  };
}

/**
 * The same jobs, on leases, while home sleeps most of half an hour, first when little is placed yet: providers go on
 * alone and are killed as they do, alone and with their
 * hosts, machines leave, disks fill up, and there may be room for few reports.
 */
export function sleepyScenario(scenario: Scenario): Scenario {
  const sleeps = [
    { after: 15_000, duration: 400_000 },
    { after: 500_000, duration: 500_000 },
    { after: 1_050_000, duration: 600_000 },
  ];
  return {
    ...scenario,
    lease: {
      horizon: scenario.lease?.horizon ?? 600_000,
      sleepsPerHour: 0,
      sleepMax: 0,
      sleeps,
      ...(scenario.lease?.keptBytesMax === undefined ? {} : { keptBytesMax: 2000 }),
    },
    faults: { ...scenario.faults, crashesPerHour: 60, fallsPerHour: 20, fullDisksPerHour: 5 },
    stormDuration: 1_800_000,
    jobs: scenario.jobs.map((job) => ({
      ...job,
      submittedAfter: Math.min(job.submittedAfter, 480_000),
      taskCount: Math.max(job.taskCount, 40),
      meanTaskTime: Math.max(10_000, Math.min(job.meanTaskTime, 60_000)),
      replicasMax: 1,
    })),
  };
}

/**
 * The same world where a provider holds allocations ahead for the reservations of most jobs, at a cluster that makes
 * none and that local users load: they are moved and
 * cancelled while they are asked for, queued and held, processes are killed, nodes are lost, and the reservation
 * manager is away now and then.
 */
export function heldScenario(scenario: Scenario): Scenario {
  const [first = usualCluster] = scenario.clusters;
  const cluster: ClusterPlan = {
    ...first,
    processors: Math.max(4, first.processors),
    requestsMax: 4,
    localPerHour: Math.max(4, first.localPerHour),
    nodeLossesPerHour: first.nodeLossesPerHour ?? 2,
  };
  const count = Math.floor(cluster.processors / scenario.jobs.length);
  const jobs = scenario.jobs.map(({ reservation, ...job }, index): JobPlan => {
    const startsAfter = job.submittedAfter + (index + 1) * 600_000;
    const plan: ReservationPlan = {
      startsAfter,
      duration: 900_000,
      ...(index === 1 ? { cancelledAfter: startsAfter - 60_000 } : {}),
      ...reservation,
      cluster: 0,
      count: Math.min(count, reservation?.count ?? count),
    };
    return { ...job, meanTaskTime: Math.min(job.meanTaskTime, 60_000), reservation: plan };
  });
  const world = {
    ...scenario,
    clusters: [cluster],
    jobs,
    stormDuration: Math.max(scenario.stormDuration, 3_600_000),
    faults: { ...scenario.faults, crashesPerHour: 20, breaksPerHour: 20 },
  };
  const held = drawHolding(scenario.seed, world);
  // Together they are never more than there is, also where they grow.
  return {
    ...held,
    jobs: held.jobs.map(({ reservation, ...job }) =>
      reservation === undefined ? job : { ...job, reservation: { ...reservation, ...movesWithin(reservation, count) } },
    ),
  };
}

function movesWithin({ moves }: ReservationPlan, countMax: number): Pick<ReservationPlan, 'moves'> {
  return moves === undefined
    ? {}
    : { moves: moves.map((move) => ({ ...move, count: Math.min(move.count, countMax) })) };
}

/**
 * The same world with a broker that leases and loses its journal every few minutes: replicas of former brokers, with
 * the same numbers, are under way everywhere.
 */
export function forgetfulScenario(scenario: Scenario): Scenario {
  return {
    ...scenario,
    stormDuration: 1_800_000,
    faults: { ...scenario.faults, journalLossesPerHour: 30 },
    lease: { sleepsPerHour: 0, sleepMax: 0, horizon: 600_000 },
    jobs: scenario.jobs.map((job) => ({
      ...job,
      submittedAfter: Math.min(job.submittedAfter, 300_000),
      taskCount: Math.max(job.taskCount, 20),
      meanTaskTime: Math.max(5_000, Math.min(job.meanTaskTime, 60_000)),
    })),
  };
}

/**
 * The same jobs with a heuristic at every cluster that watches the queue, which local users share: its requests turn
 * out wrong now and then, and are given up.
 */
export function finishingScenario(scenario: Scenario): Scenario {
  const clusters = scenario.clusters.length === 0 ? [usualCluster] : scenario.clusters;
  const jobs = scenario.jobs.map((job) => ({
    ...job,
    taskCount: Math.max(job.taskCount, 30),
    meanTaskTime: Math.max(job.meanTaskTime, 20_000),
  }));
  return drawFinishing(scenario.seed, { ...scenario, clusters, jobs });
}

/**
 * The same where first requests are kept small, and tasks take a few times the first walltime at most: requests grow as
 * tasks outlast them.
 */
export function cautiousScenario(scenario: Scenario): Scenario {
  const finishing = finishingScenario(scenario);
  const firstRequests = { walltime: 40_000, waitingMax: 1 };
  return { ...finishing, labs: [], clusters: finishing.clusters.map((cluster) => ({ ...cluster, firstRequests })) };
}

/**
 * The same jobs on a cluster whose manager takes allocations away again and again, by SIGKILL, and lists that later
 * than their machines are lost.
 */
export function preemptingScenario(scenario: Scenario): Scenario {
  const signalling = signallingScenario(scenario);
  const clusters = signalling.clusters.map(({ signalsTasks: _left, perHour: _budget, ...cluster }) => ({
    ...cluster,
    walltimeMax: 3_600_000,
    requestsMax: 2,
    preemptionsPerHour: 360,
  }));
  return {
    ...signalling,
    clusters,
    jobs: signalling.jobs.map((job) => ({ ...job, meanTaskTime: 60_000, replicasMax: 1 })),
  };
}

/**
 * The same jobs on a cluster that ends allocations all the time, with a signal to every process of them, tasks before
 * agents: short walltimes, and lost nodes.
 */
export function signallingScenario(scenario: Scenario): Scenario {
  const [first = usualCluster] = scenario.clusters;
  const cluster: ClusterPlan = {
    ...first,
    signalsTasks: true,
    walltimeMax: 120_000,
    requestsMax: 4,
    nodeLossesPerHour: 0,
    faults: honestManager,
  };
  return {
    ...scenario,
    labs: [],
    clusters: [cluster],
    stormDuration: Math.min(scenario.stormDuration, 1_800_000),
    jobs: scenario.jobs.map(({ reservation: _left, voteCount: _votes, credibility: _credibility, ...job }) => ({
      ...job,
      meanTaskTime: Math.max(5_000, Math.min(job.meanTaskTime, 20_000)),
      failuresMax: 1,
      failureProbability: 0,
      brokenTaskCount: 0,
    })),
  };
}
