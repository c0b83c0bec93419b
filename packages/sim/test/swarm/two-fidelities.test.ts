import test from 'ava';
import type { Reason } from '@mutirao/core/reasons';
import type { ProviderChange } from '@mutirao/core/machines/provider';
import { conservativeBackfilling, type Compression } from '@mutirao/core/queue';
import { findHeuristic, type RequestHeuristic } from '@mutirao/core/requests';
import { invariant, Prng } from '@mutirao/core/shared';
import {
  calmFaults,
  honestManager,
  noTimeLost,
  runGrid,
  SimulatedResource,
  World,
  worldStart,
  type LocalPlan,
  type Scenario,
} from '../../src/index.ts';

/*
 * The study goes from instant to instant and asks the heuristic itself; the whole grid runs broker, provider, cluster
 * and agents. For
 * the decisions to be the same, one by one, what only the whole grid has is taken away here: nothing takes time but the
 * work (no
 * delays, no chores), the manager hints at every change of its queue, the broker tells every change of its demand,
 * tasks take
 * the same time (the two draw them in different orders), no task is replicated, what is not needed is given up
 * at once, and the broker does not tell how many tasks have no place. The study takes the live provider's conduct.
 */

/** A cluster, its local users, and one grid job. */
interface Setting {
  readonly seed: string;
  readonly heuristic: string;
  readonly compression: Compression;
  readonly requestsMax: number;
  /** Of local users' requests, on average. */
  readonly pause: number;
  readonly taskCount: number;
  readonly taskTime: number;
}

/** What a provider decided, or heard, of one request. */
interface Decided {
  readonly at: number;
  readonly width: number;
  readonly walltime: number;
  readonly reasons: readonly Reason[];
  readonly startedAt: number | undefined;
  readonly taskTime: number;
}

const [processors, widthMax, walltimeMax, day] = [16, 8, 7_200_000, 86_400_000];
/** Local users are there before and after. */
const submittedAfter = 10_800_007;

/** Requests of local users at instants of their own, so that no two things happen at once by chance. */
function drawLocals({ seed, pause }: Setting): LocalPlan[] {
  const rng = new Prng(`locals ${seed}`);
  const locals: LocalPlan[] = [];
  for (let after = rng.below(pause); after < 5 * day; after += 1 + rng.below(2 * pause)) {
    const walltime = 1000 * (1 + rng.below(walltimeMax / 1000));
    locals.push({ after, width: 1 + rng.below(widthMax), walltime, runTime: 1 + rng.below(walltime) });
  }
  return locals;
}

function runStudy(setting: Setting, locals: readonly LocalPlan[]): { finishedAt: number; decided: Decided[] } {
  const { heuristic: name, compression, requestsMax, taskCount, taskTime } = setting;
  const reasons: (readonly Reason[])[] = [];
  const instants: number[] = [];
  const inner = findHeuristic(name);
  invariant(inner !== undefined, `there is no heuristic ${name}`);
  const heuristic: RequestHeuristic = {
    name,
    draft: (facts) => {
      const decision = inner.draft(facts);
      for (const draft of decision.drafts) {
        reasons.push(draft.reasons);
        instants.push(facts.now);
      }
      return decision;
    },
  };
  const trace = locals.map(({ after, ...request }) => ({ ...request, submittedAt: worldStart + after }));
  const [job] = runGrid(
    [new SimulatedResource({ policy: conservativeBackfilling(compression), processors, trace })],
    [
      {
        submittedAt: worldStart + submittedAfter,
        taskTimes: Array<number>(taskCount).fill(taskTime),
        picks: new Prng('picks'),
        heuristic,
        limits: [{ processors, requestsMax, widthMax, walltimeMax, walltimeGranularity: 1000 }],
        conduct: 'provider',
      },
    ],
  );
  const decided = job!.requests.map(({ width, walltime, startedAt, taskTime: done }, index) => ({
    at: instants[index]!,
    width,
    walltime,
    reasons: reasons[index]!,
    startedAt,
    taskTime: done,
  }));
  return { finishedAt: job!.finishedAt!, decided };
}

function getScenario(
  { seed, heuristic, compression, requestsMax, taskCount, taskTime }: Setting,
  local: readonly LocalPlan[],
): Scenario {
  return {
    version: 1,
    seed,
    stormDuration: 5 * day,
    turnDelayMax: 0,
    faults: calmFaults,
    labs: [],
    network: { delayMax: 0, lossProbability: 0, duplicateProbability: 0 },
    clusters: [
      {
        processors,
        requestsMax,
        widthMax,
        walltimeMax,
        compression,
        heuristic,
        localPerHour: 0,
        local,
        isWatched: true,
        speedSpread: 0,
        faults: honestManager,
      },
    ],
    jobs: [
      {
        submittedAfter,
        taskCount,
        meanTaskTime: taskTime,
        spread: 0,
        replicasMax: 1,
        failuresMax: 1,
        brokenTaskCount: 0,
        failureProbability: 0,
        inputCount: 0,
        hasOutput: false,
        isChecked: false,
      },
    ],
  };
}

function runWholeGrid(setting: Setting, locals: readonly LocalPlan[]): { finishedAt: number; decided: Decided[] } {
  const requests = new Map<string, { -readonly [Field in keyof Decided]: Decided[Field] }>();
  let finishedAt = 0;
  const receive = (change: ProviderChange): void => {
    if (change.kind === 'RequestDrafted') {
      const { at, width, walltime, reasons } = change;
      requests.set(change.requestId, { at, width, walltime, reasons, startedAt: undefined, taskTime: 0 });
    } else if (change.kind === 'RequestStarted') {
      requests.get(change.requestId)!.startedAt = change.startedAt;
    } else if (change.kind === 'TasksMeasured') {
      requests.get(change.requestId)!.taskTime += change.total;
    }
  };
  const world = new World(
    getScenario(setting, locals),
    ({ at, process, changes }) => {
      if (process === 'broker' && changes.some(({ kind }) => kind === 'JobEnded')) finishedAt = at;
      if (process === 'provider cluster0') for (const change of changes as ProviderChange[]) receive(change);
    },
    {
      pace: noTimeLost,
      broker: { demandInterval: 0, observedMin: Infinity },
      provider: { idleRelease: 0 },
      reportsUnplaced: false,
    },
  );
  for (let until = worldStart + submittedAfter; finishedAt === 0 && until <= worldStart + 20 * day; until += 600_000)
    world.kernel.runUntil(until);
  return { finishedAt, decided: [...requests.values()] };
}

/**
 * The last ones that fit into the longest walltime end half a second before it: what they took must be known at the
 * decision that follows.
 */
const taskTime = 1_439_877;

for (const heuristic of ['static', 'initial', 'adaptive', 'mixed']) {
  for (const requestsMax of [1, 2, 4]) {
    test(`a resource study and the whole grid decide the same, one by one: ${heuristic}, ${requestsMax} requests at most`, (t) => {
      let draftCount = 0;
      for (const compression of ['start-now', 'reinsert'] as const) {
        for (const pause of [1_200_000, 3_600_000]) {
          for (const seed of ['1', '2']) {
            const setting: Setting = {
              seed: `${seed} ${pause} ${compression}`,
              heuristic,
              compression,
              requestsMax,
              pause,
              taskCount: 120,
              taskTime,
            };
            const locals = drawLocals(setting);
            const study = runStudy(setting, locals);
            t.deepEqual(runWholeGrid(setting, locals), study, `${compression}, pause ${pause}, seed ${seed}`);
            draftCount += study.decided.length;
          }
        }
      }
      t.true(draftCount >= 20, `only ${draftCount} requests were compared`);
    });
  }
}
