import test from 'ava';
import { conservativeBackfilling, type TracedRequest } from '@mutirao/core/queue';
import { findHeuristic } from '@mutirao/core/requests';
import { Prng } from '@mutirao/core/shared';
import { drawTaskTimes, LocalHistory, longestTaskTime, sampleJob, type JobScenario } from '@mutirao/sim';

/** A busy machine of 16 processors: a request every 100 s on average, which runs half of its walltime. */
function aHistory(): LocalHistory {
  const prng = new Prng('local users');
  let at = 0;
  const trace: TracedRequest[] = Array.from({ length: 400 }, () => {
    at += prng.below(200_000);
    const walltime = 1000 * (1 + prng.below(600));
    return { submittedAt: at, width: 1 + prng.below(8), walltime, runTime: walltime / 2 };
  });
  return new LocalHistory({ policy: conservativeBackfilling('start-now'), processors: 16, trace });
}

const history = aHistory();
const scenario: Omit<JobScenario, 'heuristic'> = {
  taskCount: 60,
  meanTaskTime: 100_000,
  heterogeneity: 2,
  requestsMax: 3,
  widthMax: 16,
  walltimeMax: 3_600_000,
};

function sample(name: string, run: number, seed = '7'): { lines: string; result: ReturnType<typeof sampleJob> } {
  const lines: string[] = [];
  const heuristic = findHeuristic(name);
  if (heuristic === undefined) throw new Error(name);
  const result = sampleJob(history, { ...scenario, heuristic }, { seed, run }, (line) => {
    lines.push(line);
  });
  return { lines: lines.join('\n'), result };
}

for (const name of ['static', 'initial', 'adaptive', 'mixed', 'finish']) {
  test(`${name}: the same seed is the same trace, byte for byte; another seed or run is another`, (t) => {
    const once = sample(name, 1);
    t.deepEqual(sample(name, 1), once);
    t.not(sample(name, 2).lines, once.lines);
    t.not(sample(name, 1, '8').lines, once.lines);
  });

  test(`${name}: a job takes no less time than its tasks need, and wastes what it holds beyond them`, (t) => {
    for (let run = 0; run < 20; run += 1) {
      const { turnaround, waste, taskTime, requestCount } = sample(name, run).result;
      t.true(turnaround >= taskTime / 16 && waste >= 0 && requestCount >= 1);
    }
  });
}

test('every heuristic faces the same instants and the same tasks', (t) => {
  for (let run = 0; run < 5; run += 1) {
    const [first, second] = [sample('static', run).result, sample('adaptive', run).result];
    t.deepEqual([first.instant, first.taskTime], [second.instant, second.taskTime]);
  }
});

test('instants are spread from the first submission to the last local end', (t) => {
  const instants = Array.from({ length: 40 }, (_, run) => sample('static', run).result.instant);
  const quarter = (history.end - history.start) / 4;
  t.true(Math.min(...instants) >= history.start && Math.max(...instants) < history.end);
  for (const part of [0, 1, 2, 3])
    t.true(instants.some((instant) => Math.floor((instant - history.start) / quarter) === part));
});

test('a run that goes on after the last local end is marked', (t) => {
  const samples = Array.from({ length: 40 }, (_, run) =>
    sampleJob(history, { ...scenario, taskCount: 600, heuristic: findHeuristic('static')! }, { seed: '7', run }),
  );
  for (const { instant, turnaround, endsAfterLog } of samples) t.is(endsAfterLog, instant + turnaround > history.end);
  t.is(new Set(samples.map(({ endsAfterLog }) => endsAfterLog)).size, 2);
});

test('task times have the mean and the bounds of their heterogeneity', (t) => {
  for (const [heterogeneity, least, most] of [
    [1, 1000, 1000],
    [2, 500, 1500],
    [4, 250, 1750],
  ] as const) {
    const times = drawTaskTimes({ taskCount: 20_000, meanTaskTime: 1000, heterogeneity }, new Prng('times'));
    t.true(Math.abs(times.reduce((sum, time) => sum + time, 0) / 20_000 - 1000) < 10);
    t.true(
      Math.min(...times) >= least &&
        Math.min(...times) <= least + 5 &&
        Math.max(...times) <= most &&
        Math.max(...times) >= most - 5,
    );
    t.is(longestTaskTime({ meanTaskTime: 1000, heterogeneity }), most);
  }
});
