import { dependencyConditions, schedulerNames, type ReplicationCap } from '@mutirao/core/messages';
import type { LeadRule } from '@mutirao/core/reservations';
import { Prng, type Duration } from '@mutirao/core/shared';
import { unluckyTime } from './check-scenario.ts';
import { isVoted } from './truth.ts';
import {
  calmFaults,
  honestManager,
  type ClusterPlan,
  type FaultPlan,
  type JobPlan,
  type LabMachinePlan,
  type LabPlan,
  type ManagerFaults,
  type ReservationMove,
  type ReservationPlan,
  type Scenario,
} from './scenario.ts';

const second: Duration = 1000;
const minute: Duration = 60 * second;
const hour: Duration = 60 * minute;
/** Of two days that all may take; tasks that fail or lose their machine take more. */
const workMax: Duration = 12 * hour;
/** The most machines that three votes need, when no two of them agree. */
const votersMin = 7;

/** Draws a world and its faults from a seed. */
export function drawScenario(seed: string): Scenario {
  const draw = new Draw(new Prng(`scenario ${seed}`));
  const clusterCount = draw.pick([0, 1, 1, 1, 2]);
  const clusters = Array.from({ length: clusterCount }, () => drawCluster(draw))
    .map((cluster, index) =>
      losingNodesOrNot(
        watchedOrNot(cluster, new Draw(new Prng(`watch ${seed} ${index}`))),
        new Draw(new Prng(`nodes ${seed} ${index}`)),
      ),
    )
    .map((cluster, index) => finishingOrNot(cluster, new Draw(new Prng(`finish ${seed} ${index}`))))
    .map((cluster, index) => signallingOrNot(cluster, new Draw(new Prng(`signals ${seed} ${index}`))));
  const labs = Array.from({ length: clusterCount === 0 ? 1 : draw.pick([0, 1, 1]) }, () => drawLab(draw));
  const stormDuration = draw.pick([10, 30, 60, 120]) * minute;
  const taskTimeMax = Math.min(20 * minute, ...clusters.map(({ walltimeMax }) => walltimeMax / 4));
  return withWorkflows(
    seed,
    withHolding(
      seed,
      withReservation(
        seed,
        withVotes(
          seed,
          withBearableWork({
            version: 1,
            seed,
            clusters,
            labs,
            stormDuration,
            jobs: Array.from({ length: draw.pick([1, 1, 2, 3]) }, (_, index) =>
              drawJob(draw, { index, stormDuration, taskTimeMax }),
            )
              .map((job, index) => retriedOrNot(job, stormDuration, new Draw(new Prng(`retry ${seed} ${index}`))))
              .map((job, index) => thinnedOrNot(job, stormDuration, new Draw(new Prng(`thinning ${seed} ${index}`))))
              .map((job, index) => impatientOrNot(job, new Draw(new Prng(`stopping ${seed} ${index}`))))
              .map((job, index) => servedOrNot(job, stormDuration, new Draw(new Prng(`service ${seed} ${index}`))))
              .map((job, index) => gatedOrNot(job, stormDuration, new Draw(new Prng(`gates ${seed} ${index}`))))
              .map((job, index) => ({ ...job, ...drawScheduling(new Draw(new Prng(`scheduling ${seed} ${index}`))) })),
            network: {
              delayMax: draw.pick([0, 5, 50, 500]),
              lossProbability: draw.pick([0, 0.01, 0.2]),
              duplicateProbability: draw.pick([0, 0.01, 0.1]),
            },
            faults: { ...drawFaults(draw), ...drawClockSteps(new Draw(new Prng(`clocks ${seed}`))) },
            turnDelayMax: draw.pick([0, 1, 20]),
            ...drawSwitches(new Draw(new Prng(`switches ${seed}`))),
            ...drawChores(new Draw(new Prng(`chores ${seed}`))),
            ...drawStuckTasks(new Draw(new Prng(`stuck ${seed}`))),
            ...drawDrains(new Draw(new Prng(`drains ${seed}`))),
            ...drawLease(new Draw(new Prng(`lease ${seed}`))),
          }),
        ),
      ),
    ),
  );
}

/**
 * Makes workflows of some jobs of some worlds, but of those that are voted on. By rng of its own, so that all else is
 * the same.
 */
function withWorkflows(seed: string, scenario: Scenario): Scenario {
  const draw = new Draw(new Prng(`workflows ${seed}`));
  if (!draw.pick([false, false, true])) return scenario;
  const jobs = scenario.jobs.map((job): JobPlan => {
    const predecessorsMax = draw.pick([0, 1, 2, 5]);
    return predecessorsMax === 0 || isVoted(job) ? job : { ...job, predecessorsMax };
  });
  return { ...scenario, jobs };
}

/** Puts a job of some worlds inside a reservation. Uses a generator of its own, so that all else stays the same. */
function withReservation(seed: string, scenario: Scenario): Scenario {
  const draw = new Draw(new Prng(`reservation ${seed}`));
  const { clusters, jobs, stormDuration } = scenario;
  if (clusters.length === 0 || !draw.pick([false, false, true])) return scenario;
  const [cluster, reserved] = [draw.between(0, clusters.length - 1), draw.between(0, jobs.length - 1)];
  const startsAfter = (jobs[reserved]?.submittedAfter ?? 0) + draw.pick([0, 0, draw.between(0, stormDuration)]);
  const duration = draw.pick([2, 10, 60]) * minute;
  const reservation = {
    cluster,
    startsAfter,
    duration,
    count: draw.between(1, clusters[cluster]?.processors ?? 1),
    ...(draw.pick([false, false, true]) ? { cancelledAfter: startsAfter + draw.between(-duration, duration) } : {}),
    ...(draw.pick([false, false, false, true]) ? { isForged: true } : {}),
  };
  const cancelled = 'cancelledAfter' in reservation ? { cancelledAfter: Math.max(0, reservation.cancelledAfter) } : {};
  return {
    ...scenario,
    jobs: jobs.map((job, index) =>
      index === reserved ? { ...job, reservation: { ...reservation, ...cancelled } } : job,
    ),
  };
}

/**
 * Has the providers of some worlds with a reservation hold allocations ahead for it, at clusters that make none. By
 * rng of its own, so that all else is the same.
 */
function withHolding(seed: string, scenario: Scenario): Scenario {
  const draw = new Draw(new Prng(`holding ${seed}`));
  if (scenario.jobs.every(({ reservation }) => reservation === undefined) || !draw.pick([false, true])) return scenario;
  return heldWith(draw, scenario);
}

/** The same world where all clusters make no reservations, their providers hold ahead, and reservations move. */
export function drawHolding(seed: string, scenario: Scenario): Scenario {
  return heldWith(new Draw(new Prng(`held ${seed}`)), scenario);
}

function heldWith(draw: Draw, scenario: Scenario): Scenario {
  const clusters = scenario.clusters.map((cluster): ClusterPlan => ({ ...cluster, holding: drawHoldingRule(draw) }));
  const jobs = scenario.jobs.map(
    ({ reservation, ...job }): JobPlan =>
      reservation === undefined ? job : { ...job, reservation: withMoves(draw, reservation, clusters) },
  );
  const managerAways = draw.pick([false, true])
    ? Array.from({ length: draw.between(1, 4) }, () => ({
        after: draw.between(0, scenario.stormDuration),
        duration: draw.pick([10 * second, 5 * minute]),
      }))
    : [];
  return { ...scenario, clusters, jobs, ...(managerAways.length === 0 ? {} : { managerAways }) };
}

function drawHoldingRule(draw: Draw): LeadRule {
  const [lead, margin, share] = [
    draw.pick([minute, 10 * minute, hour]),
    draw.pick([0, minute, 10 * minute]),
    draw.pick([0.5, 0.9]),
  ];
  return draw.pick<LeadRule>([
    { kind: 'fixed', lead },
    { kind: 'forecast', margin },
    { kind: 'learned', share },
  ]);
}

/** Some are renegotiated, or moved, once or more before they begin. */
function withMoves(draw: Draw, reservation: ReservationPlan, clusters: readonly ClusterPlan[]): ReservationPlan {
  const moves: ReservationMove[] = [];
  let [from, startsAfter] = [0, reservation.startsAfter];
  for (let count = draw.pick([0, 0, 1, 2, 3]); count > 0 && from < startsAfter; count -= 1) {
    const after = draw.between(from, startsAfter - 1);
    startsAfter = Math.max(after + 1, startsAfter + draw.pick([0, 0, draw.between(-10 * minute, 30 * minute)]));
    moves.push({
      after,
      startsAfter,
      duration: draw.pick([reservation.duration, 2 * minute, 20 * minute, hour]),
      count: draw.pick([reservation.count, draw.between(1, clusters[reservation.cluster]?.processors ?? 1)]),
    });
    from = after + 1;
  }
  return moves.length === 0 ? reservation : { ...reservation, moves };
}

/**
 * Votes on the results of some jobs of some worlds, and adds the machines that it takes, some of which lie. By rng of
 * its own, so that all else is the same.
 */
function withVotes(seed: string, scenario: Scenario): Scenario {
  const draw = new Draw(new Prng(`votes ${seed}`));
  if (!draw.pick([false, false, true])) return scenario;
  const drawn: LabPlan = {
    downTime: draw.pick([5 * second, 2 * minute]),
    machines: Array.from(
      { length: votersMin },
      (_, index): LabMachinePlan => ({
        processors: draw.pick([1, 1, 2]),
        speed: draw.pick([1, 1, 3]),
        isLiar: false,
        ...drawSabotage(draw, index),
      }),
    ),
    ...(draw.pick([false, true]) ? { upTime: { mean: hour, shape: 0.5 } } : {}),
  };
  const jobs = scenario.jobs.map(
    (job): JobPlan => ({ ...job, isChecked: job.isChecked && draw.pick([false, true]), ...drawVerification(draw) }),
  );
  const voters = jobs.some(({ credibility = 0 }) => credibility > 0) ? withMajority(drawn, scenario) : drawn;
  return { ...scenario, labs: [...scenario.labs, voters], jobs };
}

/**
 * Adds honest voters until even all that ever lie, of one mind, cannot keep the others below any threshold: else a
 * result could rightly wait for ever.
 */
function withMajority({ machines, ...lab }: LabPlan, { labs }: Scenario): LabPlan {
  const liarCount = labs.reduce(
    (sum, other) => sum + other.machines.filter(({ isLiar }) => isLiar).length,
    machines.filter(({ sabotage }) => sabotage !== undefined).length,
  );
  const honestCount = machines.filter(({ sabotage }) => sabotage === undefined).length;
  const missingCount = Math.max(0, liarCount + 3 - honestCount);
  return {
    ...lab,
    machines: [
      ...machines,
      ...Array.from({ length: missingCount }, (): LabMachinePlan => ({ processors: 1, speed: 1, isLiar: false })),
    ],
  };
}

function drawVerification(draw: Draw): Pick<JobPlan, 'voteCount' | 'credibility'> {
  return draw.pick([
    {},
    { voteCount: draw.between(1, 3) },
    { voteCount: draw.between(1, 3) },
    { credibility: draw.pick([0.75, 0.9, 0.95]) },
  ]);
}

/** At most three machines of a world's voters lie. */
function drawSabotage(draw: Draw, index: number): Pick<LabMachinePlan, 'sabotage'> {
  const probability = draw.pick([0, 0.1, 0.5, 1]);
  return index >= 3 || probability === 0
    ? {}
    : { sabotage: { probability, colludes: draw.pick([false, true]), renames: draw.pick([false, true]) } };
}

/** Shortens tasks where a few slow machines would never be done with them. */
function withBearableWork(scenario: Scenario): Scenario {
  if (unluckyTime(scenario) <= workMax) return scenario;
  return withBearableWork({
    ...scenario,
    jobs: scenario.jobs.map((job) => ({ ...job, meanTaskTime: Math.ceil(job.meanTaskTime / 2) })),
  });
}

/** Draws of one scenario, one after the other. */
class Draw {
  readonly #prng: Prng;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.#prng.below(choices.length)] as T;
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.#prng.below(most - least + 1);
  }
}

function drawJob(
  draw: Draw,
  {
    index,
    stormDuration,
    taskTimeMax,
  }: { readonly index: number; readonly stormDuration: Duration; readonly taskTimeMax: Duration },
): JobPlan {
  const taskCount = draw.pick([1, 3, 10, 30, 60]);
  return {
    submittedAfter: index === 0 ? second : draw.between(0, stormDuration / 2),
    taskCount,
    meanTaskTime: Math.min(taskTimeMax, draw.pick([50, 2 * second, 30 * second, 2 * minute, 10 * minute])),
    spread: draw.pick([0, 0.5, 0.9]),
    replicasMax: draw.pick([1, 2, 3]),
    failuresMax: draw.pick([1, 3]),
    brokenTaskCount: draw.pick([0, 0, 0, 1]),
    failureProbability: draw.pick([0, 0, 0.1]),
    inputCount: draw.pick([0, 0, 1, 3]),
    hasOutput: draw.pick([false, true]),
    isChecked: draw.pick([false, false, true]),
    ...(draw.pick([false, false, false, true]) ? { cancelledAfter: draw.between(second, stormDuration) } : {}),
  };
}

function drawCluster(draw: Draw): ClusterPlan {
  const processors = draw.pick([2, 4, 8, 16]);
  return {
    processors,
    requestsMax: draw.pick([1, 2, 4]),
    widthMax: draw.pick([processors, Math.max(1, processors / 2)]),
    walltimeMax: draw.pick([10, 60, 240]) * minute,
    compression: draw.pick(['start-now', 'reinsert']),
    heuristic: draw.pick(['static', 'initial', 'adaptive', 'mixed']),
    localPerHour: draw.pick([0, 0, 4, 20]),
    speedSpread: draw.pick([0, 0.5]),
    faults: draw.pick([false, true]) ? drawManagerFaults(draw) : honestManager,
  };
}

/** By rng of its own, so that all else is the same either way. */
function watchedOrNot(cluster: ClusterPlan, draw: Draw): ClusterPlan {
  return draw.pick([true, false]) ? { ...cluster, isWatched: true } : cluster;
}

/** By rng of its own, as above. */
function losingNodesOrNot(cluster: ClusterPlan, draw: Draw): ClusterPlan {
  const nodeLossesPerHour = draw.pick([0, 0, 0, 2, 20]);
  return nodeLossesPerHour === 0 ? cluster : { ...cluster, nodeLossesPerHour };
}

/** By rng of its own, as above. */
function signallingOrNot(cluster: ClusterPlan, draw: Draw): ClusterPlan {
  return draw.pick([true, false]) ? { ...cluster, signalsTasks: true } : cluster;
}

/**
 * Has the heuristic that watches the queue decide at half of the clusters, as it does unless a user says otherwise,
 * within a budget that may be a small one. By rng of its own, as above.
 */
function finishingOrNot(cluster: ClusterPlan, draw: Draw): ClusterPlan {
  return draw.pick([true, false]) ? finishingCluster(cluster, draw) : cluster;
}

function finishingCluster(cluster: ClusterPlan, draw: Draw): ClusterPlan {
  const perHour = draw.pick([undefined, { submissions: 20, withdrawals: 5 }, { submissions: 8, withdrawals: 1 }]);
  return { ...cluster, heuristic: draw.pick(['finish', 'auto']), ...(perHour === undefined ? {} : { perHour }) };
}

/** The same world with that heuristic at every cluster, competing with local users. */
export function drawFinishing(seed: string, scenario: Scenario): Scenario {
  const clusters = scenario.clusters.map((cluster, index) => {
    const draw = new Draw(new Prng(`finishing ${seed} ${index}`));
    return { ...finishingCluster(cluster, draw), localPerHour: draw.pick([4, 20, 60]) };
  });
  return { ...scenario, clusters };
}

/** By rng of its own, as above. */
function drawSwitches(draw: Draw): Pick<Scenario, 'heuristicSwitchesPerHour'> {
  const heuristicSwitchesPerHour = draw.pick([0, 0, 6, 60]);
  return heuristicSwitchesPerHour === 0 ? {} : { heuristicSwitchesPerHour };
}

/** By rng of its own, as above. */
function drawDrains(draw: Draw): Pick<Scenario, 'drainsPerHour'> {
  const drainsPerHour = draw.pick([0, 0, 0, 4, 30]);
  return drainsPerHour === 0 ? {} : { drainsPerHour };
}

/** By rng of its own, as above. */
function drawStuckTasks(draw: Draw): Pick<Scenario, 'stuckTaskProbability'> {
  const stuckTaskProbability = draw.pick([0, 0, 0, 0, 0, 0, 0.1, 0.5]);
  return stuckTaskProbability === 0 ? {} : { stuckTaskProbability };
}

/** By rng of its own, as above. */
function drawChores(draw: Draw): Pick<Scenario, 'choreFailureProbability'> {
  const choreFailureProbability = draw.pick([0, 0, 0.05, 0.3]);
  return choreFailureProbability === 0 ? {} : { choreFailureProbability };
}

/** By rng of its own, as above. */
function drawLease(draw: Draw): Pick<Scenario, 'lease'> {
  if (draw.pick([true, false, false])) return {};
  return {
    lease: {
      horizon: draw.pick([10 * second, 10 * minute, hour]),
      sleepsPerHour: draw.pick([0, 2, 10]),
      sleepMax: draw.pick([minute, 20 * minute, hour]),
      ...(draw.pick([true, false, false, false]) ? { keptBytesMax: 500 } : {}),
    },
  };
}

/** By rng of its own, as above. */
function retriedOrNot(job: JobPlan, stormDuration: Duration, draw: Draw): JobPlan {
  return draw.pick([false, false, true]) ? { ...job, retriedAfter: draw.between(second, stormDuration) } : job;
}

/** Has its user cancel some of its tasks. By rng of its own, as above. */
function thinnedOrNot(job: JobPlan, stormDuration: Duration, draw: Draw): JobPlan {
  return draw.pick([false, false, false, true])
    ? { ...job, tasksCancelledAfter: draw.between(second, Math.ceil(stormDuration / 4)) }
    : job;
}

/** Has it stopped when few of its tasks have failed. By rng of its own, as above. */
function impatientOrNot(job: JobPlan, draw: Draw): JobPlan {
  return draw.pick([false, false, true]) ? { ...job, failedTasksMax: draw.pick([1, 2, 5]) } : job;
}

/** Has it wait for its turn, and for its user. By rng of its own, as above. */
function servedOrNot(job: JobPlan, stormDuration: Duration, draw: Draw): JobPlan {
  const runningMax = draw.pick([undefined, undefined, 1, 2, 7]);
  const priority = draw.pick([undefined, undefined, 1, -1, 10]);
  const after = (): Duration => draw.between(second, Math.ceil(stormDuration / 2));
  return {
    ...job,
    ...(runningMax === undefined ? {} : { runningMax }),
    ...(priority === undefined ? {} : { priority }),
    ...(draw.pick([false, false, true]) ? { updatedAfter: after() } : {}),
    ...(draw.pick([false, false, true]) ? { heldAfter: after() } : {}),
  };
}

/** Has it wait for the job before it, or for a time. By rng of its own, as above. */
function gatedOrNot(job: JobPlan, stormDuration: Duration, draw: Draw): JobPlan {
  const awaits = draw.pick([undefined, undefined, undefined, ...dependencyConditions]);
  const beginsAfter = draw.between(second, Math.ceil(stormDuration / 2));
  const expiresAfter = beginsAfter + draw.between(second, stormDuration);
  const often = [false, false, false, false, true];
  return {
    ...job,
    ...(awaits === undefined ? {} : { awaits }),
    ...(draw.pick(often) ? { beginsAfter } : {}),
    ...(draw.pick(often) ? { expiresAfter } : {}),
  };
}

/** By rng of its own, as above; half of the jobs have the defaults. */
function drawScheduling(draw: Draw): Pick<JobPlan, 'scheduler' | 'replicationCap'> {
  const scheduler = draw.pick([undefined, undefined, undefined, ...schedulerNames]);
  const replicationCap = draw.pick<ReplicationCap | undefined>([
    undefined,
    undefined,
    { kind: 'idle' },
    { kind: 'share', percent: 0 },
    { kind: 'share', percent: 20 },
    { kind: 'share', percent: 200 },
  ]);
  return {
    ...(scheduler === undefined ? {} : { scheduler }),
    ...(replicationCap === undefined ? {} : { replicationCap }),
  };
}

function drawManagerFaults(draw: Draw): ManagerFaults {
  const probability = (): number => draw.pick([0, 0, 0.05, 0.3]);
  return {
    listingFails: probability(),
    listingLags: probability(),
    listingLies: probability(),
    startsLate: probability(),
    startsNothing: probability(),
    startsTwice: probability(),
  };
}

/**
 * By rng of its own, so that all else is the same either way; where clocks are right, they are set to what they show.
 */
function drawClockSteps(draw: Draw): Pick<FaultPlan, 'clockStepsPerHour'> {
  const clockStepsPerHour = draw.pick([0, 0, 4, 30]);
  return clockStepsPerHour === 0 ? {} : { clockStepsPerHour };
}

function drawLab(draw: Draw): LabPlan {
  return {
    machines: Array.from({ length: draw.between(1, 5) }, () => ({
      processors: draw.pick([1, 2, 4]),
      speed: draw.pick([0.2, 1, 1, 3]),
      isLiar: draw.pick([false, false, false, false, true]),
    })),
    downTime: draw.pick([5 * second, 2 * minute, 20 * minute]),
    ...(draw.pick([false, true]) ? { upTime: { mean: draw.pick([0.5, 4]) * hour, shape: 0.5 } } : {}),
  };
}

function drawFaults(draw: Draw): FaultPlan {
  if (draw.pick([true, false, false, false, false])) return calmFaults;
  const rate = (): number => draw.pick([0, 0, 2, 20]);
  return {
    crashesPerHour: draw.pick([0, 2, 10, 60]),
    fallsPerHour: rate(),
    pausesPerHour: rate(),
    pauseMax: draw.pick([2 * second, 90 * second]),
    cutsPerHour: rate(),
    cutMax: draw.pick([5 * second, 3 * minute, 15 * minute]),
    breaksPerHour: draw.pick([0, 10, 100]),
    fullDisksPerHour: draw.pick([0, 0, 2]),
    skewMax: draw.pick([0, 0, 3 * second, 10 * minute]),
  };
}
