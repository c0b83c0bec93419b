import type { Duration, ProcessorCount } from '@mutirao/core/shared';
import { ScenarioError } from './read-fields.ts';
import {
  listPlaces,
  type ClusterPlan,
  type JobPlan,
  type LocalPlan,
  type ReservationPlan,
  type Scenario,
} from './scenario.ts';
import { updateOf } from './user.ts';

/** Tasks of all jobs that a simulation holds. */
export const tasksMax = 10_000;
/** Processors of all clusters and labs that a simulation holds. */
export const machinesMax = 1_000;

const second: Duration = 1000;
const hour: Duration = 3600 * second;
/** Staging and messages take their time in addition to the task. */
const allocationMargin: Duration = 30 * second;
/**
 * How long after all faults are mended local users' requests may still hold a cluster, and a user may wait for a
 * reservation.
 */
const backlogMax: Duration = 36 * hour;
const lateMax: Duration = 24 * hour;
/** How long everything may take to come to its end once nothing goes wrong any more. */
export const healingMax: Duration = 48 * hour;

/**
 * Refuses a scenario with fields that are each sound, but that no simulation could bring to its end.
 *
 * @throws {ScenarioError} with the requested value and the possible one.
 */
export function checkScenario(scenario: Scenario): void {
  scenario.jobs.forEach((job, index) => {
    checkJob(job, `jobs[${index}]`, scenario.stormDuration);
  });
  scenario.clusters.forEach((cluster, index) => {
    checkCluster(cluster, `clusters[${index}]`, scenario.stormDuration);
  });
  checkReservations(scenario);
  checkSize(scenario);
  checkTaskTimes(scenario);
  checkWork(scenario);
}

function checkJob(
  {
    taskCount,
    brokenTaskCount,
    submittedAfter,
    cancelledAfter = 0,
    tasksCancelledAfter = 0,
    retriedAfter = 0,
    updatedAfter = 0,
    heldAfter = 0,
    beginsAfter = 0,
  }: JobPlan,
  path: string,
  stormDuration: Duration,
): void {
  if (brokenTaskCount > taskCount)
    throw new ScenarioError(`${path}.brokenTaskCount`, `is ${brokenTaskCount}`, `at most its ${taskCount} tasks`);
  const latest = stormDuration + lateMax;
  for (const [name, value] of [
    ['submittedAfter', submittedAfter],
    ['cancelledAfter', cancelledAfter],
    ['tasksCancelledAfter', tasksCancelledAfter],
    ['retriedAfter', retriedAfter],
    ['updatedAfter', updatedAfter],
    ['heldAfter', heldAfter],
    ['beginsAfter', beginsAfter],
  ] as const) {
    if (value > latest)
      throw new ScenarioError(
        `${path}.${name}`,
        `is ${value}`,
        `at most ${latest}, a day after the storm: all must come to its end in two`,
      );
  }
}

/**
 * A manager never promises more than there is: also where all reservations of a cluster, in their largest places, come
 * together.
 */
function checkReservations({ jobs, clusters }: Scenario): void {
  const promised = clusters.map(() => 0);
  for (const [index, { reservation }] of jobs.entries()) {
    if (reservation === undefined) continue;
    const { cluster } = reservation;
    const processors = clusters[cluster]?.processors ?? 0;
    const left = processors - (promised[cluster] ?? 0);
    const count = Math.max(...listPlaces(reservation).map((place) => place.count));
    if (count > left)
      throw new ScenarioError(
        `jobs[${index}].reservation.count`,
        `is ${count}`,
        `at most ${left}, what the ones before leave of the ${processors} processors of cluster ${cluster}: ` +
          'nobody sees to it here that they do not overlap',
      );
    promised[cluster] = processors - left + count;
    checkMoves(reservation, `jobs[${index}].reservation.moves`);
  }
}

/** A reservation that has begun does not move, and one that is not known yet has no other place. */
function checkMoves({ startsAfter, moves = [] }: ReservationPlan, path: string): void {
  let [before, begins] = [0, startsAfter];
  for (const [index, { after, startsAfter: next }] of moves.entries()) {
    if (after < before || after >= Math.min(begins, next))
      throw new ScenarioError(
        `${path}[${index}].after`,
        `is ${after}`,
        `from ${before}, the move before it, to less than ${Math.min(begins, next)}, when it begins`,
      );
    [before, begins] = [after, next];
  }
}

function checkCluster(
  { processors, widthMax, walltimeMax, localPerHour, local = [] }: ClusterPlan,
  path: string,
  stormDuration: Duration,
): void {
  if (widthMax > processors)
    throw new ScenarioError(`${path}.widthMax`, `is ${widthMax}`, `at most its ${processors} processors`);
  checkLocal(local, processors, `${path}.local`);
  // A local user's walltime is uniform up to the longest, and the run time uniform up to that.
  const backlog = (localPerHour * (stormDuration / hour) * (walltimeMax / 4) * ((widthMax + 1) / 2)) / processors;
  if (backlog <= backlogMax) return;
  throw new ScenarioError(
    `${path}.localPerHour`,
    `is ${localPerHour}`,
    `less: local users would hold the whole cluster for ${showHours(backlog)} and the longest that can be ` +
      `waited for is ${showHours(backlogMax)}`,
  );
}

function checkLocal(local: readonly LocalPlan[], processors: ProcessorCount, path: string): void {
  const backlog = sum(local.map(({ width, walltime, runTime }) => width * Math.min(walltime, runTime))) / processors;
  if (backlog > backlogMax)
    throw new ScenarioError(
      path,
      `hold the whole cluster for ${showHours(backlog)}`,
      `at most ${showHours(backlogMax)}, the longest that can be waited for`,
    );
}

function checkSize({ jobs, clusters, labs }: Scenario): void {
  const taskCount = sum(jobs.map((job) => job.taskCount));
  if (taskCount > tasksMax) throw new ScenarioError('jobs', `have ${taskCount} tasks in all`, `at most ${tasksMax}`);
  const processors =
    sum(clusters.map((cluster) => cluster.processors)) +
    sum(labs.flatMap(({ machines }) => machines.map((machine) => machine.processors)));
  if (processors === 0)
    throw new ScenarioError('clusters and labs', 'are empty', 'a machine at least: no task would ever run');
  if (processors > machinesMax)
    throw new ScenarioError('clusters and labs', `have ${processors} processors in all`, `at most ${machinesMax}`);
}

/** Without a lab every task must fit into an allocation of some cluster, also on its slowest node. */
function checkTaskTimes({ jobs, clusters, labs }: Scenario): void {
  if (labs.length > 0) return;
  const room = Math.max(
    ...clusters.map(({ walltimeMax, speedSpread }) => (walltimeMax - allocationMargin) * (1 - speedSpread)),
  );
  for (const [index, job] of jobs.entries()) {
    const longest = longestWork(job);
    if (longest <= room) continue;
    throw new ScenarioError(
      `jobs[${index}].meanTaskTime`,
      `is ${job.meanTaskTime}, so that tasks take up to ${Math.ceil(longest)}`,
      `at most ${Math.max(0, Math.floor(room))}, for which the longest walltime has room on the slowest node, or a lab`,
    );
  }
}

/** All work must fit into the time that there is, were every machine the fastest and nothing lost. */
function checkWork(scenario: Scenario): void {
  const [wanted, time] = [shortestTime(scenario), scenario.stormDuration + healingMax];
  if (wanted > time)
    throw new ScenarioError(
      'jobs',
      `take ${showHours(wanted)} of all machines`,
      `at most ${showHours(time)}, two days after the storm`,
    );
}

/** How long all work takes at least, on all machines at once. */
export function shortestTime({ jobs, clusters, labs }: Scenario): Duration {
  const machines = labs.flatMap((lab) => lab.machines);
  const capacity =
    sum(clusters.map(({ processors, speedSpread }) => processors * (1 + speedSpread))) +
    sum(machines.map(({ processors, speed }) => processors * speed));
  return sum(jobs.map(({ taskCount, meanTaskTime, spread }) => taskCount * meanTaskTime * (1 - spread))) / capacity;
}

/**
 * How long jobs take, one after the other, that run few tasks at once, in addition to the time that all others take:
 * each task on the slowest machine, and once more for one that failed or was retried.
 */
export function throttledTime(scenario: Scenario): Duration {
  const slowest = findSlowest(scenario);
  return sum(
    scenario.jobs.map((job) => {
      const runningMax = job.updatedAfter === undefined ? job.runningMax : updateOf(job).runningMax;
      const most = Math.min(job.runningMax ?? Infinity, runningMax ?? Infinity);
      return most === Infinity ? 0 : (2 * Math.ceil(job.taskCount / most) * longestWork(job)) / slowest;
    }),
  );
}

function findSlowest({ clusters, labs }: Pick<Scenario, 'clusters' | 'labs'>): number {
  return Math.min(
    ...labs.flatMap((lab) => lab.machines.map(({ speed }) => speed)),
    ...clusters.map(({ speedSpread }) => 1 - speedSpread),
  );
}

/**
 * How long all work takes with bad rng in every draw: spread over all machines, and then the longest task once more on
 * the slowest.
 */
export function unluckyTime({ jobs, clusters, labs }: Scenario): Duration {
  const machines = labs.flatMap((lab) => lab.machines);
  const capacity =
    sum(clusters.map(({ processors, speedSpread }) => processors * (1 - speedSpread))) +
    sum(machines.map(({ processors, speed }) => processors * speed));
  return (
    sum(jobs.map((job) => job.taskCount * longestWork(job))) / capacity +
    Math.max(0, ...jobs.map(longestWork)) / findSlowest({ clusters, labs })
  );
}

function longestWork({ meanTaskTime, spread }: JobPlan): Duration {
  return meanTaskTime * (1 + spread);
}

function showHours(time: Duration): string {
  return `${Math.ceil(time / hour)} h`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
