// Claims of costa2005, chapter 4, on small logs that are drawn here. They are about means over many instants.
import test from 'ava';
import { conservativeBackfilling } from '@mutirao/core/queue';
import { findHeuristic } from '@mutirao/core/requests';
import { Prng } from '@mutirao/core/shared';
import { LocalHistory, sampleJob, type Heterogeneity } from '@mutirao/sim';

const second = 1000;
const hour = 3600 * second;
const processors = 64;
const runCount = 40;

/**
 * Local users of a machine of 64 processors: widths are powers of 2, and a request runs for half of its walltime on
 * average.
 *
 * @param load offered, in [0, 1]. @param walltimes drawn from, in hours.
 */
function aHistory(load: number, walltimes: readonly number[]): LocalHistory {
  const prng = new Prng('local users');
  const requests = Array.from({ length: 1500 }, () => {
    const walltime = hour * (walltimes[prng.below(walltimes.length)] ?? 1);
    return { width: 2 ** prng.below(6), walltime, runTime: Math.round(second + prng.fraction() * (walltime - second)) };
  });
  const meanWork = requests.reduce((sum, { width, runTime }) => sum + width * runTime, 0) / requests.length;
  let at = 0;
  const trace = requests.map((request) => {
    at += Math.round((2 * prng.fraction() * meanWork) / (processors * load));
    return { submittedAt: at, ...request };
  });
  return new LocalHistory({ policy: conservativeBackfilling('start-now'), processors, trace });
}

/** As the logs of the thesis: long walltimes, and a queue. */
const crowded = aHistory(0.8, [1, 4, 18]);

interface Kind {
  readonly taskCount: number;
  readonly meanSeconds: number;
  readonly heterogeneity?: Heterogeneity;
  readonly requestsMax?: number;
}

function meanTurnaround(history: LocalHistory, name: string, kind: Kind): number {
  const heuristic = findHeuristic(name);
  if (heuristic === undefined) throw new Error(name);
  const scenario = {
    heuristic,
    taskCount: kind.taskCount,
    meanTaskTime: kind.meanSeconds * second,
    heterogeneity: kind.heterogeneity ?? 1,
    requestsMax: kind.requestsMax ?? 2,
    widthMax: processors,
    walltimeMax: 18 * hour,
  };
  let total = 0;
  for (let run = 0; run < runCount; run++) total += sampleJob(history, scenario, { seed: '1', run }).turnaround;
  return total / runCount;
}

/** Eq. 4.1, of a heuristic over the static one. */
function speedup(history: LocalHistory, name: string, kind: Kind): number {
  return meanTurnaround(history, 'static', kind) / meanTurnaround(history, name, kind);
}

const small: readonly Kind[] = [
  { taskCount: 20, meanSeconds: 100 },
  { taskCount: 100, meanSeconds: 100 },
  { taskCount: 100, meanSeconds: 1000 },
];

test('4.4.1: small jobs are faster with the adaptive heuristic', (t) => {
  for (const kind of small) t.true(speedup(crowded, 'adaptive', kind) > 1.5, JSON.stringify(kind));
});

test('4.4.1: heterogeneity of the tasks changes the speedup of small jobs by less than 2 %', (t) => {
  for (const kind of small) {
    const constant = speedup(crowded, 'adaptive', kind);
    for (const heterogeneity of [2, 4] as const)
      t.true(Math.abs(speedup(crowded, 'adaptive', { ...kind, heterogeneity }) / constant - 1) < 0.02);
  }
});

test('4.4.1, Figure 4.3: for large jobs it does not matter which heuristic asks', (t) => {
  for (const kind of [
    { taskCount: 5000, meanSeconds: 1000 },
    { taskCount: 3000, meanSeconds: 10_000 },
  ]) {
    for (const name of ['adaptive', 'mixed'])
      t.true(Math.abs(speedup(crowded, name, kind) - 1) < 0.1, `${name} ${JSON.stringify(kind)}`);
  }
});

test('4.4.1, Figure 4.2: few long tasks are faster with the static heuristic where holes are shorter than they', (t) => {
  const shortRequests = aHistory(0.8, [0.5, 1, 2]);
  t.true(speedup(shortRequests, 'adaptive', { taskCount: 100, meanSeconds: 10_000, requestsMax: 4 }) < 0.95);
});

test('4.7: mixed lies between the others for small jobs', (t) => {
  for (const kind of small) {
    const mixed = speedup(crowded, 'mixed', kind);
    t.true(mixed > 1 && mixed < speedup(crowded, 'adaptive', kind), JSON.stringify(kind));
  }
});

test('4.5, departs: with all else equal, what adaptive gains on small jobs grows with the load, as a static request waits longer', (t) => {
  const quiet = aHistory(0.6, [1, 4, 18]);
  for (const kind of small) {
    const [low, high] = [speedup(quiet, 'adaptive', kind), speedup(crowded, 'adaptive', kind)];
    t.true(low > 1 && low < high, JSON.stringify(kind));
  }
});
