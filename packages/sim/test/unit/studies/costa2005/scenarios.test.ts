import test from 'ava';
import {
  countRuns,
  jobTypes,
  listChunks,
  nameType,
  requestsMaxima,
  studyHeuristics,
  studyTraces,
  studyVariants,
  type StudyChunk,
  type StudySettings,
} from '@mutirao/sim/costa2005';

const listPlain = (settings: StudySettings): StudyChunk[] =>
  listChunks(settings).filter(({ variant }) => variant === undefined);

test('there are 36 job types, 6 limits of requests and 3 heuristics on each of 5 traces (costa2005, section 4.2)', (t) => {
  t.is(new Set(jobTypes.map(nameType)).size, 36);
  t.deepEqual(requestsMaxima, [1, 2, 3, 4, 5, 6]);
  t.deepEqual(studyHeuristics, ['static', 'adaptive', 'mixed']);
  t.deepEqual(
    studyTraces.map(({ processors, loadFactor }) => [processors, loadFactor]),
    [
      [128, 1],
      [1152, 1],
      [512, 1],
      [512, 0.9],
      [512, 0.7],
    ],
  );
});

test('the whole study has a part for each type and trace, at 50 instants, at 20 for jobs of 100,000 tasks', (t) => {
  const chunks = listPlain({ isQuick: false, seed: '1' });
  t.is(chunks.length, 5 * 36);
  t.is(new Set(chunks.map(({ id }) => id)).size, chunks.length);
  for (const { type, instantCount } of chunks) t.is(instantCount, type.taskCount === 100_000 ? 20 : 50);
  t.is(
    chunks.reduce((total, chunk) => total + countRuns(chunk), 0),
    5 * 18 * (27 * 50 + 9 * 20),
  );
});

test('the quick study has the nine homogeneous types below 100,000 tasks, at 20 instants', (t) => {
  const chunks = listPlain({ isQuick: true, seed: '1' });
  t.is(chunks.length, 5 * 9);
  t.true(
    chunks.every(
      ({ type, instantCount }) => type.heterogeneity === 1 && type.taskCount <= 10_000 && instantCount === 20,
    ),
  );
});

test('names of parts are fit for files and commands', (t) => {
  for (const { id } of listChunks({ isQuick: false, seed: '1' })) t.regex(id, /^[a-z0-9.-]+$/);
});

test('no task of the study is longer than the longest walltime of its trace', (t) => {
  for (const { trace, type } of listChunks({ isQuick: false, seed: '1' }))
    t.true(1.75 * type.meanTaskTime <= trace.walltimeMax);
});

test('each variation has its plain part, with no fewer instants, to be compared with; names of parts are unique', (t) => {
  for (const isQuick of [false, true]) {
    const chunks = listChunks({ isQuick, seed: '1' });
    const varied = chunks.filter(({ variant }) => variant !== undefined);
    t.is(varied.length, 2 * 3 * studyVariants.length + (isQuick ? 0 : 3 * 9));
    t.is(new Set(chunks.map(({ id }) => id)).size, chunks.length);
    for (const { trace, type, instantCount } of varied) {
      t.true(
        chunks.some(
          (chunk) =>
            chunk.variant === undefined &&
            chunk.trace === trace &&
            chunk.type === type &&
            chunk.instantCount >= instantCount,
        ),
      );
    }
  }
});

test('a shorter study has the instants and the job types that were asked for, also where static asks as the users did', (t) => {
  const chunks = listChunks({ isQuick: false, seed: '1', instants: 20, taskCountMax: 10_000 });
  t.deepEqual([...new Set(chunks.map(({ instantCount }) => instantCount))], [20]);
  t.is(Math.max(...chunks.map(({ type }) => type.taskCount)), 10_000);
  t.is(listPlain({ isQuick: false, seed: '1', instants: 20, taskCountMax: 10_000 }).length, 27 * studyTraces.length);
});
