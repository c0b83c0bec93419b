import test from 'ava';
import {
  findLosses,
  groupScenarios,
  listChunks,
  mainTypes,
  reportHeuristics,
  Resampling,
  wholeStudy,
  type HeuristicRun,
  type HeuristicsPart,
  type HeuristicsSettings,
} from '@mutirao/sim/heuristics';

const hour = 3_600_000;
const settings: HeuristicsSettings = {
  ...wholeStudy('1'),
  instants: 6,
  types: mainTypes.slice(0, 2),
  pending: [1, 3],
  heuristics: ['static', 'adaptive', 'mixed'],
  traces: wholeStudy('1').traces.slice(0, 1),
  policies: ['start-now', 'easy'],
  parts: ['main', 'queues'],
};
/**
 * Hours that a job takes: mixed is twice as fast as the better of the two at the first type, and half as fast at the
 * second in the last third.
 */
const hours: Readonly<Record<string, readonly (readonly number[])[]>> = {
  static: [
    [8, 8, 8, 8, 8, 8],
    [4, 4, 4, 4, 4, 4],
  ],
  adaptive: [
    [6, 6, 6, 6, 6, 6],
    [9, 9, 9, 9, 9, 9],
  ],
  mixed: [
    [3, 3, 3, 3, 3, 3],
    [4, 4, 4, 4, 8, 8],
  ],
};

function getParts(given = hours): HeuristicsPart[] {
  return listChunks(settings).map((chunk) => ({
    chunk,
    result: {
      seed: '1',
      program: 'p',
      facts: { requestCount: 54_034, offeredLoad: 0.834 },
      runs: chunk.pending.flatMap((requestsMax) =>
        Array.from({ length: chunk.instantCount }, (_, run): HeuristicRun => {
          const turnaround = (given[chunk.heuristic]?.[chunk.type.heterogeneity === 1 ? 0 : 1]?.[run] ?? NaN) * hour;
          return {
            requestsMax,
            run,
            instant: run * hour,
            turnaround,
            waste: chunk.heuristic === 'static' ? 20 : 10,
            taskTime: 100,
            firstWait: turnaround / 2,
            submissions: 4,
            withdrawals: 1,
            releases: 2,
            submissionsPerHour: 3,
            takenOutPerHour: 2,
            local: { requestCount: 10, withJob: 30 * hour, alone: 20 * hour },
            endsAfterLog: run === 5,
            isEndless: false,
          };
        }),
      ),
    },
  }));
}

const { page, figures } = reportHeuristics(settings, getParts(), 'heuristics/');

test('the speedup is that over the better of the two, for all instants and for those held out', (t) => {
  // All: sqrt(2 x 4 / (32 / 6)); held out: sqrt(2 x 1/2).
  t.regex(
    page,
    /\| SDSC SP2 \| `start-now` \| 4 \| 0\.87 \| 0\.67 \| 1\.22 \(\d\.\d\d to \d\.\d\d\) \| 1\.00 \(1\.00 to 1\.00\) \|/,
  );
});

test('a scenario is lost when its whole interval is, and is listed with its cause', (t) => {
  const [group] = groupScenarios(
    getParts({
      ...hours,
      mixed: [
        [3, 3, 3, 3, 3, 3],
        [8, 8, 8, 8, 8, 9],
      ],
    }),
  );
  const losses = findLosses(group!, 'mixed', new Resampling('1'));
  t.deepEqual(
    losses.map(({ scenario: { type, requestsMax }, better }) => [type.heterogeneity, requestsMax, better]),
    [
      [2, 1, 'static'],
      [2, 3, 'static'],
    ],
  );
  t.is(losses[0]?.speedup.value.toFixed(3), (24 / 49).toFixed(3));
  // Half of what is lost is before the first start, which is no more than half.
  t.is(losses[0]?.cause, 'later requests start later, or are narrower, at most instants alike');
  t.true(page.includes('There is no such scenario.'));
});

test('a loss at few instants is reported as one', (t) => {
  const slow = [4, 4, 4, 4, 4, 4].map((value, run) => (run === 0 ? 40 : value + 0.5));
  const [group] = groupScenarios(
    getParts({ ...hours, static: [hours['static']![0]!, [4, 4, 4, 4, 4, 4]], mixed: [hours['mixed']![0]!, slow] }),
  );
  const [loss] = findLosses(group!, 'mixed', new Resampling('1'));
  t.is(loss?.cause, '94 % of it at one instant of 6');
});

test('waste, requests and local waits are reported next to static and the window without the job', (t) => {
  t.true(page.includes('| SDSC SP2 | `start-now` | mixed | 10.0 % | 0.50 (0.50 to 0.50) |'));
  t.true(page.includes('| SDSC SP2 | `start-now` | mixed | 4.0 | 1.0 | 2.0 | 3 | 2 |'));
  t.true(page.includes('| SDSC SP2 | `start-now` | mixed | 2.00 h | +60.0 min | 100.0 % | 0.0 % |'));
});

test('the page says what was left out, and how many jobs ended after the log', (t) => {
  for (const line of [
    '- Traces left out: blue, ctc, ctc-338, lanl.',
    '- Policies left out: reinsert, fcfs.',
    '- Job types: 2 of 27 were run.',
    '- maxPR left out: 2, 4, 5, 6.',
    '- Instants: 6 in place of 50.',
  ]) {
    t.true(page.includes(line), line);
  }
  t.regex(page, /18 of 108 jobs ended after the log's last request/);
});

test('the page says which jobs were stopped, and counts none of them as ended', (t) => {
  const parts = getParts();
  t.false(page.includes('Stopped after'));
  const [first] = parts;
  const stopped = {
    ...first!,
    result: {
      ...first!.result,
      runs: first!.result.runs.map((run) => ({ ...run, endsAfterLog: true, isEndless: true })),
    },
  };
  const varied = {
    ...stopped,
    chunk: { ...stopped.chunk, heuristic: 'finish', variant: { id: 'x', title: 'gives up none' } },
  };
  const text = reportHeuristics(settings, [stopped, ...parts.slice(1), varied]).page;
  const { length } = stopped.result.runs;
  t.true(
    text.includes(
      `Stopped after 10 years, and counted with that time: ${length} of \`${first!.chunk.heuristic}\`, ` +
        `${length} of \`finish\` (gives up none).`,
    ),
  );
  t.true(
    text.includes(`${18 - length / settings.instants} of ${108 + length} jobs ended after the log's last request`),
  );
});

test('the page says with which options it is written again', (t) => {
  const options =
    '--seed 1 --instants 6 --traces sp2 --types 100x100s-1x,100x100s-2x --max-pending 1,3 --policies ' +
    'start-now,easy --heuristics static,adaptive,mixed --parts main,queues';
  t.true(page.includes(`Written by \`mutirao sim study heuristics ${options} --out DIR\``));
  const [trace] = settings.traces;
  const own = reportHeuristics(
    { ...wholeStudy('7'), traces: [{ ...trace!, id: 'own-mine', title: 'mine', file: '/logs/mine.swf' }] },
    [],
  ).page;
  t.true(
    own.includes(
      '`mutirao sim study heuristics --seed 7 --instants 50 --trace mine --processors 128 --max-walltime 18h ' +
        '--out DIR`',
    ),
  );
});

test('a figure for each compression is drawn and named', (t) => {
  t.deepEqual(
    figures.map(({ name }) => name),
    ['speedup-start-now.svg'],
  );
  t.true(page.includes('](heuristics/speedup-start-now.svg)'));
});
