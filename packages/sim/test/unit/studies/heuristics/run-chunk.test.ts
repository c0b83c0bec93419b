import test from 'ava';
import fc from 'fast-check';
import { conservativeBackfilling } from '@mutirao/core/queue';
import { LocalHistory } from '@mutirao/sim';
import {
  decodeResult,
  encodeResult,
  listChunks,
  LocalWatch,
  policyNames,
  getPolicy,
  runChunk,
  usualWalltime,
  wholeStudy,
  type HeuristicsChunk,
} from '@mutirao/sim/heuristics';

const hour = 3_600_000;
const requests = Array.from({ length: 90 }, (_, index) => ({
  submittedAt: index * 200_000,
  width: 1 + (index % 7),
  walltime: hour,
  runTime: hour / 3,
}));
const setup = { policy: conservativeBackfilling('start-now'), processors: 16, trace: requests };
const history = new LocalHistory(setup);
const chunk: HeuristicsChunk = {
  id: 'main.small',
  part: 'main',
  trace: { id: 'small', title: 'small', file: 'small.swf', processors: 16, walltimeMax: 5 * hour },
  policy: 'start-now',
  type: { taskCount: 30, meanTaskTime: 100_000, heterogeneity: 2 },
  heuristic: 'adaptive',
  pending: [1, 3],
  instantCount: 6,
};
const runs = runChunk(chunk, history, '1');
const facts = { requestCount: 90, offeredLoad: 0.4 };
const origin = { seed: '1', program: 'p' };
const text = encodeResult(chunk, { ...origin, facts, runs });

test('heuristics and limits meet the same instants and tasks, one instant in each slice of the time', (t) => {
  const other = runChunk({ ...chunk, heuristic: 'static' }, history, '1');
  t.is(runs.length, 12);
  t.deepEqual(
    other.map(({ instant, taskTime }) => [instant, taskTime]),
    runs.map(({ instant, taskTime }) => [instant, taskTime]),
  );
  t.notDeepEqual(
    other.map(({ turnaround }) => turnaround),
    runs.map(({ turnaround }) => turnaround),
  );
  const slice = (89 * 200_000) / 6;
  for (const { run, instant, requestsMax } of runs) {
    t.is(Math.floor(instant / slice), run);
    t.is(runs.find((one) => one.run === run && one.requestsMax !== requestsMax)?.instant, instant);
  }
});

test('the same seed is the same records, whatever was run before; another seed is others', (t) => {
  fc.assert(
    fc.property(
      fc.nat(1000),
      fc.constantFrom('static', 'adaptive', 'mixed', 'initial'),
      fc.constantFrom(...policyNames),
      (seed, heuristic, policy) => {
        const own = { ...chunk, heuristic, policy, instantCount: 2 };
        const local = new LocalHistory({ ...setup, policy: getPolicy(policy) });
        const first = encodeResult(own, {
          seed: String(seed),
          program: 'p',
          facts,
          runs: runChunk(own, local, String(seed)),
        });
        runChunk({ ...own, heuristic: 'mixed' }, local, 'other');
        return (
          first ===
          encodeResult(own, { seed: String(seed), program: 'p', facts, runs: runChunk(own, local, String(seed)) })
        );
      },
    ),
    { seed: 20_250_101, numRuns: 20 },
  );
  t.notDeepEqual(runChunk(chunk, history, '2'), runs);
});

test('the result of one limit does not depend on the other limits that are run', (t) => {
  t.deepEqual(
    runChunk({ ...chunk, pending: [3] }, history, '1'),
    runs.filter(({ requestsMax }) => requestsMax === 3),
  );
});

test('job types that differ in heterogeneity alone share their instants, others do not', (t) => {
  const listInstants = (type: Partial<HeuristicsChunk['type']>): number[] =>
    runChunk({ ...chunk, type: { ...chunk.type, ...type } }, history, '1').map(({ instant }) => instant);
  t.deepEqual(
    listInstants({ heterogeneity: 4 }),
    runs.map(({ instant }) => instant),
  );
  t.notDeepEqual(
    listInstants({ taskCount: 31 }),
    runs.map(({ instant }) => instant),
  );
});

test('a variant changes what the heuristic does and not the rng', (t) => {
  const finish = { ...chunk, heuristic: 'finish' };
  const plain = runChunk(finish, history, '1');
  t.deepEqual(runChunk({ ...finish, variant: { id: 'same', title: 'same', constants: {} } }, history, '1'), plain);
  for (const change of [
    { holdsIdle: true },
    { decidesAt: 'ends' },
    { constants: { priorShortest: 600_000, priorStep: 1e9 } },
  ] as const) {
    const varied = runChunk({ ...finish, variant: { id: 'x', title: 'x', ...change } }, history, '1');
    t.deepEqual(
      varied.map(({ instant, taskTime }) => [instant, taskTime]),
      plain.map(({ instant, taskTime }) => [instant, taskTime]),
    );
    t.notDeepEqual(
      varied.map(({ turnaround, waste }) => [turnaround, waste]),
      plain.map(({ turnaround, waste }) => [turnaround, waste]),
    );
  }
  const getReleases = (some: readonly { readonly releases: number }[]): number =>
    some.reduce((sum, { releases }) => sum + releases, 0);
  t.true(
    getReleases(runChunk({ ...finish, variant: { id: 'x', title: 'x', holdsIdle: true } }, history, '1')) <
      getReleases(plain),
  );
});

test('waits of local users are those between submission and end of the job, with it and without', (t) => {
  // One processor: the first runs from 0 to 100, the second waits from 10 to 100, the third from 150 for nothing. A job
  // takes 100 to 130 for itself at 20.
  const trace = [
    { submittedAt: 0, width: 1, walltime: 100, runTime: 100 },
    { submittedAt: 10, width: 1, walltime: 40, runTime: 40 },
    { submittedAt: 125, width: 1, walltime: 10, runTime: 10 },
  ];
  const one = new LocalHistory({ policy: conservativeBackfilling('start-now'), processors: 1, trace });
  t.deepEqual(
    [0, 1, 2].map((id) => one.startOf(id)),
    [0, 100, 140],
  );
  t.true(Number.isNaN(one.startOf(3)));
  const resource = one.resourceAt(20);
  const watch = new LocalWatch(resource, 20);
  resource.submit({ id: resource.firstFreeId, width: 1, walltime: 30, runTime: 30 }, 20);
  resource.advance(171);
  // With it the third starts at 170, since the job has 140 to 170.
  t.deepEqual(watch.sumUp(170, one), {
    requestCount: 2,
    withJob: 100 - 20 + (170 - 125),
    alone: 100 - 20 + (140 - 125),
  });
  const early = one.resourceAt(20);
  const cut = new LocalWatch(early, 20);
  early.advance(131);
  t.deepEqual(cut.sumUp(130, one), { requestCount: 2, withJob: 100 - 20 + (130 - 125), alone: 100 - 20 + (130 - 125) });
});

test('the walltime limit of an unknown log is what 99 of 100 requests keep within, in whole hours, at least five', (t) => {
  const of = (walltimes: readonly number[]): number =>
    usualWalltime(walltimes.map((walltime) => ({ submittedAt: 0, width: 1, walltime, runTime: 1 })));
  t.is(of([hour]), 5 * hour);
  t.is(of([...Array<number>(200).fill(7.5 * hour), 1000 * hour]), 8 * hour);
  t.is(of([]), 5 * hour);
});

test('results are read as they were written', (t) => {
  t.deepEqual(decodeResult(text, chunk, origin), { ...origin, facts, runs });
});

test('a job that nothing is left for is stopped after ten years, and reported as one that waited that long', (t) => {
  const years = 10 * 365 * 24 * hour;
  const trace = [
    { submittedAt: 0, width: 16, walltime: 2 * years, runTime: 2 * years },
    { submittedAt: hour, width: 1, walltime: hour, runTime: hour },
  ];
  const own = { ...chunk, heuristic: 'static', pending: [1], instantCount: 1 };
  const stopped = runChunk(own, new LocalHistory({ ...setup, trace }), '1');
  t.like(stopped[0], {
    isEndless: true,
    turnaround: years,
    firstWait: years,
    waste: 0,
    submissions: 1,
    withdrawals: 0,
  });
  t.deepEqual(decodeResult(encodeResult(own, { ...origin, facts, runs: stopped }), own, origin)?.runs, stopped);
});

test('results that are cut short, broken, or of another part, log or seed are not taken', (t) => {
  t.is(decodeResult('', chunk, origin), undefined);
  t.is(decodeResult(text.slice(0, -1), chunk, origin), undefined);
  t.is(decodeResult(text.split('\n').slice(0, -2).join('\n') + '\n', chunk, origin), undefined);
  t.is(decodeResult(text.replace('[1,0,', '[1,"x",'), chunk, origin), undefined);
  t.is(decodeResult(text.replace('[1,0,', '[1,0,5,'), chunk, origin), undefined);
  t.is(decodeResult(text.replace('"version":1', '"version":2'), chunk, origin), undefined);
  t.is(decodeResult(text, chunk, { ...origin, seed: '2' }), undefined);
  t.is(decodeResult(text, chunk, { ...origin, program: 'q' }), undefined);
  t.is(decodeResult(text, { ...chunk, id: 'other' }, origin), undefined);
  t.is(decodeResult(text, { ...chunk, instantCount: 7 }, origin), undefined);
  t.is(decodeResult(text, { ...chunk, pending: [1, 2] }, origin), undefined);
  t.is(decodeResult(text, { ...chunk, trace: { ...chunk.trace, file: 'other.swf' } }, origin), undefined);
  t.is(decodeResult(text, { ...chunk, trace: { ...chunk.trace, processors: 17 } }, origin), undefined);
});

test('the whole study has 27 job types on five traces, six limits and 50 instants under both compressions, and names no part twice', (t) => {
  const settings = { ...wholeStudy('1'), heuristics: ['static', 'adaptive'] };
  const chunks = listChunks(settings);
  t.is(new Set(chunks.map(({ id }) => id)).size, chunks.length);
  const main = chunks.filter(({ part }) => part === 'main');
  t.is(main.length, 27 * 5 * 2 * 2);
  t.true(main.every(({ pending, instantCount }) => pending.length === 6 && instantCount === 50));
  const queues = chunks.filter(({ part }) => part === 'queues');
  t.deepEqual([...new Set(queues.map(({ policy, trace }) => `${trace.id} ${policy}`))].sort(), [
    'blue easy',
    'ctc easy',
    'ctc fcfs',
    'ctc-338 easy',
    'lanl easy',
    'lanl fcfs',
    'sp2 easy',
  ]);
  t.true(chunks.filter(({ part }) => part !== 'main').every(({ instantCount }) => instantCount <= 30));
  const varied = listChunks(wholeStudy('1')).filter(({ variant }) => variant !== undefined);
  t.is(varied.filter(({ part }) => part === 'ablations').length, 16 * 9 * 2);
  t.true(
    varied.every(
      ({ heuristic, part, policy }) =>
        heuristic === 'finish' && policy === 'start-now' && (part === 'ablations' || part === 'constants'),
    ),
  );
  t.true(chunks.every(({ part, type }) => (type.taskCount === 100_000) === (part === 'large')));
});
