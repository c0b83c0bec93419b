import test from 'ava';
import { conservativeBackfilling } from '@mutirao/core/queue';
import { LocalHistory } from '@mutirao/sim';
import {
  decodeChunk,
  encodeChunk,
  runChunk,
  studyHeuristics,
  studyTraces,
  type StudyChunk,
} from '@mutirao/sim/costa2005';

const hour = 3_600_000;
const trace = Array.from({ length: 60 }, (_, index) => ({
  submittedAt: index * 200_000,
  width: 1 + (index % 7),
  walltime: hour,
  runTime: hour / 3,
}));
const history = new LocalHistory({ policy: conservativeBackfilling('start-now'), processors: 16, trace });
const chunk: StudyChunk = {
  id: 'small',
  trace: { ...studyTraces[0]!, processors: 16 },
  type: { taskCount: 30, meanTaskTime: 100_000, heterogeneity: 2 },
  instantCount: 3,
};
const runs = runChunk(chunk, history, '1');
const facts = { requestCount: 60, offeredLoad: 0.4 };
const text = encodeChunk(chunk, { seed: '1', facts, runs });

test('a part runs every limit and heuristic at the same instants with the same tasks', (t) => {
  t.is(runs.length, 6 * 3 * 3);
  for (const run of [0, 1, 2]) {
    const same = runs.filter((one) => one.run === run);
    t.is(same.length, 18);
    t.is(new Set(same.map(({ instant }) => instant)).size, 1);
    t.is(new Set(same.map(({ taskTime }) => taskTime)).size, 1);
  }
  t.deepEqual(new Set(runs.map(({ heuristic }) => heuristic)), new Set(studyHeuristics));
});

test('the same seed is the same results, another seed is others', (t) => {
  t.deepEqual(runChunk(chunk, history, '1'), runs);
  t.notDeepEqual(runChunk(chunk, history, '2'), runs);
});

test('job types that differ in heterogeneity alone meet the same instants, others do not', (t) => {
  const listInstants = (type: Partial<StudyChunk['type']>): number[] =>
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

test('a varied assumption changes the results and not the rng', (t) => {
  for (const variant of [
    { options: { staticWidth: 'largest' } },
    { releasesIdle: true },
    { widthShare: 0.25 },
  ] as const) {
    const varied = runChunk({ ...chunk, variant: { id: 'x', title: 'x', ...variant } }, history, '1');
    t.deepEqual(
      varied.map(({ instant, taskTime }) => [instant, taskTime]),
      runs.map(({ instant, taskTime }) => [instant, taskTime]),
    );
    t.notDeepEqual(
      varied.map(({ turnaround, waste }) => [turnaround, waste]),
      runs.map(({ turnaround, waste }) => [turnaround, waste]),
    );
  }
});

test('results are read as they were written', (t) => {
  t.deepEqual(decodeChunk(text, chunk, '1'), { seed: '1', facts, runs });
});

test('results that are cut short, broken, or of another part or seed are not taken', (t) => {
  t.is(decodeChunk('', chunk, '1'), undefined);
  t.is(decodeChunk(text.slice(0, -1), chunk, '1'), undefined);
  t.is(decodeChunk(text.split('\n').slice(0, -2).join('\n') + '\n', chunk, '1'), undefined);
  t.is(decodeChunk(text.replace('"run":1', '"run":"x"'), chunk, '1'), undefined);
  t.is(decodeChunk(text.replace('"static"', '"best"'), chunk, '1'), undefined);
  t.is(decodeChunk(text.replace('{"max_requests"', '["max_requests"'), chunk, '1'), undefined);
  t.is(decodeChunk(text, { ...chunk, id: 'other' }, '1'), undefined);
  t.is(decodeChunk(text, chunk, '2'), undefined);
});
