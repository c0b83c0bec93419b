import type { FirstRequestLimits } from '@mutirao/core/machines/provider';
import { dependencyConditions, schedulerNames, type ReplicationCap } from '@mutirao/core/messages';
import { readSiteSelection } from '@mutirao/core/site-selection';
import type { BucOrder } from '@mutirao/core/queue';
import { heuristicChoices, type BudgetLeft } from '@mutirao/core/requests';
import type { LeadRule } from '@mutirao/core/reservations';
import type { Duration } from '@mutirao/core/shared';
import { checkScenario, machinesMax, tasksMax } from './check-scenario.ts';
import {
  flag,
  lessThanOne,
  list,
  number,
  object,
  getOne,
  ScenarioError,
  showValue,
  text,
  whole,
  type Reader,
} from './read-fields.ts';
import type {
  ClusterNodePlan,
  ClusterPlan,
  DownTime,
  FaultPlan,
  JobPlan,
  LabMachinePlan,
  LabPlan,
  LeasePlan,
  LocalPlan,
  ManagerFaults,
  ReservationMove,
  ReservationPlan,
  SabotagePlan,
  Scenario,
} from './scenario.ts';

const second: Duration = 1000;
const hour: Duration = 3600 * second;
const day: Duration = 24 * hour;

/** Longest storm: faults must end for all to come to its end. */
const stormMax: Duration = 7 * day;
/** A greeting is given up after 10 s: on a slower network no connection would ever open. */
const delayMax: Duration = 2 * second;
const sitesMax = 20;
const jobsMax = 100;
const localMax = 1_000;
const downsMax = 1_000;
const movesMax = 100;
const perHour = number(0, 10_000);
const times = whole(0, day);

const idleCap = object<{ readonly kind: 'none' | 'idle' }>({ kind: getOne(['none', 'idle']) }, {});
const shareCap = object<Extract<ReplicationCap, { readonly kind: 'share' }>>(
  { kind: getOne(['share']), percent: whole(0, 1000) },
  {},
);
const cap: Reader<ReplicationCap> = {
  wanted: 'a cap on replication',
  read: (value, path) =>
    ((Object(value) as { readonly kind?: unknown }).kind === 'share' ? shareCap : idleCap).read(value, path),
};

const reservation = object<ReservationPlan>(
  {
    cluster: whole(0, sitesMax),
    startsAfter: whole(0, stormMax + day),
    duration: whole(second, 7 * day),
    count: whole(1, machinesMax),
  },
  {
    cancelledAfter: whole(0, stormMax + day),
    isForged: flag,
    moves: list(
      object<ReservationMove>(
        {
          after: whole(0, stormMax + day),
          startsAfter: whole(0, stormMax + day),
          duration: whole(second, 7 * day),
          count: whole(1, machinesMax),
        },
        {},
      ),
      0,
      movesMax,
    ),
  },
);

const fixed = object<Extract<LeadRule, { readonly kind: 'fixed' }>>(
  { kind: getOne(['fixed']), lead: whole(0, 7 * day) },
  {},
);
const learned = object<Extract<LeadRule, { readonly kind: 'learned' }>>(
  { kind: getOne(['learned']), share: number(0.01, 0.99) },
  {},
);
const forecast = object<Extract<LeadRule, { readonly kind: 'forecast' }>>(
  { kind: getOne(['forecast']), margin: whole(0, 7 * day) },
  {},
);
const holding: Reader<LeadRule> = {
  wanted: 'a rule for asking ahead',
  read: (value, path) => {
    const { kind } = Object(value) as { readonly kind?: unknown };
    return (kind === 'learned' ? learned : kind === 'forecast' ? forecast : fixed).read(value, path);
  },
};

const siteSelection: Reader<string> = {
  wanted: 'a site selection',
  read: (value, path) => {
    const read = typeof value === 'string' ? readSiteSelection(value) : { fault: showValue(value) };
    if (typeof read === 'object' && 'fault' in read)
      throw new ScenarioError(path, `is ${showValue(value)}`, 'none or STRATEGY[:A]');
    return value as string;
  },
};

const job = object<JobPlan>(
  {
    submittedAfter: whole(0, stormMax + day),
    taskCount: whole(1, tasksMax),
    meanTaskTime: whole(1, 7 * day),
    spread: lessThanOne,
    replicasMax: whole(1, 100),
    failuresMax: whole(1, 100),
    brokenTaskCount: whole(0, tasksMax),
    failureProbability: lessThanOne,
    inputCount: whole(0, 100),
    hasOutput: flag,
    isChecked: flag,
  },
  {
    voteCount: whole(0, 15),
    credibility: number(0, 0.999),
    cancelledAfter: whole(0, stormMax + day),
    failedTasksMax: whole(1, tasksMax),
    tasksCancelledAfter: whole(0, stormMax + day),
    runningMax: whole(1, tasksMax),
    priority: whole(-1000, 1000),
    updatedAfter: whole(0, stormMax + day),
    heldAfter: whole(0, stormMax + day),
    awaits: getOne(dependencyConditions),
    beginsAfter: whole(0, stormMax + day),
    expiresAfter: whole(1, stormMax + day),
    retriedAfter: whole(0, stormMax + day),
    scheduler: getOne(schedulerNames),
    replicationCap: cap,
    reservation,
    predecessorsMax: whole(0, 10),
    gangProcessors: whole(0, 1000),
    siteSelection,
    asks: object<NonNullable<JobPlan['asks']>>(
      { memory: whole(0, 2 ** 50), gpus: whole(0, 1_024_000), licences: whole(0, 1000) },
      { peak: whole(1, 2 ** 50) },
    ),
  },
);

const managerFaults = object<ManagerFaults>(
  {
    listingFails: lessThanOne,
    listingLags: lessThanOne,
    listingLies: lessThanOne,
    startsLate: lessThanOne,
    startsNothing: lessThanOne,
    startsTwice: lessThanOne,
  },
  {},
);

const local = object<LocalPlan>(
  {
    after: whole(0, stormMax + day),
    width: whole(1, machinesMax),
    walltime: whole(1, 7 * day),
    runTime: whole(0, 7 * day),
  },
  {},
);

const cluster = object<ClusterPlan>(
  {
    processors: whole(1, machinesMax),
    requestsMax: whole(1, 100),
    widthMax: whole(1, machinesMax),
    walltimeMax: whole(second, 7 * day),
    compression: getOne(['start-now', 'reinsert']),
    heuristic: getOne(heuristicChoices),
    localPerHour: perHour,
    speedSpread: lessThanOne,
    faults: managerFaults,
  },
  {
    local: list(local, 0, localMax),
    nodes: list(
      object<ClusterNodePlan>(
        { processors: whole(1, machinesMax), memory: whole(0, 2 ** 50), gpus: whole(0, 1024) },
        {},
      ),
      1,
      machinesMax,
    ),
    isWatched: flag,
    signalsTasks: flag,
    nodeLossesPerHour: perHour,
    preemptionsPerHour: perHour,
    holding,
    perHour: object<BudgetLeft>({ submissions: whole(1, 10_000), withdrawals: whole(0, 10_000) }, {}),
    firstRequests: object<FirstRequestLimits>({ walltime: whole(1, day), waitingMax: whole(1, 10_000) }, {}),
    order: object<BucOrder>({ weight: number(1e-9, 1e9), leadMax: whole(0, 365 * day) }, {}),
  },
);

const labMachine = object<LabMachinePlan>(
  { processors: whole(1, 100), speed: number(0.01, 100), isLiar: flag },
  {
    has: object<NonNullable<LabMachinePlan['has']>>(
      { memory: whole(0, 2 ** 50), gpus: whole(0, 1024), licences: whole(0, 1000) },
      {},
    ),
    sabotage: object<SabotagePlan>({ probability: number(0, 1), colludes: flag, renames: flag }, {}),
    downs: list(object<DownTime>({ after: whole(0, stormMax), duration: times }, {}), 0, downsMax),
  },
);

const lab = object<LabPlan>(
  { machines: list(labMachine, 1, machinesMax), downTime: times },
  {
    upTime: object<NonNullable<LabPlan['upTime']>>({ mean: whole(second, 365 * day), shape: number(0.1, 10) }, {}),
  },
);

const faults = object<FaultPlan>(
  {
    crashesPerHour: perHour,
    fallsPerHour: perHour,
    pausesPerHour: perHour,
    pauseMax: times,
    cutsPerHour: perHour,
    cutMax: times,
    breaksPerHour: perHour,
    fullDisksPerHour: perHour,
    skewMax: times,
  },
  { journalLossesPerHour: perHour, clockStepsPerHour: perHour },
);

const lease = object<LeasePlan>(
  { horizon: times, sleepsPerHour: perHour, sleepMax: times },
  {
    sleeps: list(object<DownTime>({ after: whole(0, stormMax), duration: times }, {}), 0, downsMax),
    keptBytesMax: whole(0, 2 ** 40),
  },
);

const scenario = object<Scenario>(
  {
    version: getOne([1]),
    seed: text(100),
    jobs: list(job, 1, jobsMax),
    clusters: list(cluster, 0, sitesMax),
    labs: list(lab, 0, sitesMax),
    network: object<Scenario['network']>(
      { delayMax: whole(0, delayMax), lossProbability: lessThanOne, duplicateProbability: lessThanOne },
      {},
    ),
    faults,
    turnDelayMax: whole(0, delayMax),
    stormDuration: whole(0, stormMax),
  },
  {
    heuristicSwitchesPerHour: perHour,
    drainsPerHour: perHour,
    choreFailureProbability: lessThanOne,
    stuckTaskProbability: lessThanOne,
    managerAways: list(object<DownTime>({ after: whole(0, stormMax), duration: times }, {}), 0, downsMax),
    lease,
  },
);

/**
 * Reads a scenario from a JSON document; the same document, the same scenario.
 *
 * @throws {ScenarioError} when a field is missing, not known or out of range, and when the whole asks for nothing, for
 *   more than a simulation holds, or for something that can never end.
 */
export function readScenario(document: unknown): Scenario {
  const { version } = Object(document) as { readonly version?: unknown };
  // Fields of another version would only hide what is wrong.
  if (version !== undefined && version !== 1)
    throw new ScenarioError('version', `is ${showValue(version)}`, '1, the only one that this release reads');
  const read = scenario.read(document, '');
  checkScenario(read);
  return read;
}
