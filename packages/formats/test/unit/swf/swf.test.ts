import test from 'ava';
import { FormatError, parseSwf, listProcessors, selectRequests, SwfReader, type SwfTrace } from '@mutirao/formats';

/** A line of 18 fields: what is given, and -1. */
function line(fields: Readonly<Record<number, number | string>>): string {
  return Array.from({ length: 18 }, (_, index) => fields[index + 1] ?? -1).join(' ');
}

function read(...lines: readonly string[]): SwfTrace {
  return parseSwf(lines.join('\n'), 'made.swf');
}

const plain = '  7   566129   5  28826    8  27758.5    -1    9  28800    -1  5 153  75 18180  3 2 -1 -1';

test('a record has its times in milliseconds and -1 where the log knows nothing', (t) => {
  t.deepEqual(read(plain, line({ 1: 8, 2: 566_130 })).records, [
    {
      jobId: 7,
      submittedAt: 566_129_000,
      waitTime: 5000,
      runTime: 28_826_000,
      allocatedProcessors: 8,
      requestedProcessors: 9,
      requestedTime: 28_800_000,
      status: 5,
      userId: 153,
      partitionId: 2,
    },
    {
      jobId: 8,
      submittedAt: 566_130_000,
      waitTime: -1,
      runTime: -1,
      allocatedProcessors: -1,
      requestedProcessors: -1,
      requestedTime: -1,
      status: -1,
      userId: -1,
      partitionId: -1,
    },
  ]);
});

test('every line is counted as what it is', (t) => {
  const { lines, longCount, records } = read(
    '; Version: 2.2',
    '',
    ' \t ',
    plain,
    '1 2 3',
    plain.replace('153', 'ann'),
    `${plain} 4`,
    `${plain.trim()}\r`,
    '  ; a remark',
    '#1',
    '3 10 5 28826',
  );
  t.deepEqual(lines, { record: 3, comment: 2, blank: 2, short: 2, nonNumeric: 2 });
  t.is(longCount, 1);
  t.is(records.length, 3);
});

for (const word of ['--5', '5-', '1.2.3', '.', '-', '1e', 'NaN', 'Infinity', '0x10', '1_0']) {
  test(`${word} is not a number of a log`, (t) => {
    t.is(read(line({ 2: word }), line({})).lines.nonNumeric, 1);
  });
}

test('fractions, signs and exponents are numbers', (t) => {
  const { records } = read(
    line({ 2: 10, 4: '1.5' }),
    line({ 2: '+11', 4: '1e2' }),
    line({ 2: '12.0005', 4: '.25' }),
    line({ 2: 13, 4: '-7.5' }),
  );
  t.deepEqual(
    records.map(({ submittedAt, runTime }) => [submittedAt, runTime]),
    [
      [10_000, 1500],
      [11_000, 100_000],
      [12_001, 250],
      [13_000, -1],
    ],
  );
});

test('records out of order are counted and put where they belong, those of one instant as they came', (t) => {
  const { records, outOfOrderCount } = read(
    ...[
      [1, 50],
      [2, 40],
      [3, 50],
      [4, 45],
      [5, 60],
    ].map(([id = 0, at = 0]) => line({ 1: id, 2: at })),
  );
  t.deepEqual(
    records.map(({ jobId }) => jobId),
    [2, 4, 1, 3, 5],
  );
  t.is(outOfOrderCount, 2);
});

test('the processors are MaxProcs, else MaxNodes', (t) => {
  t.is(listProcessors(read('; MaxNodes: 64 (of 70)', '; MaxProcs: 128', ';MaxProcs: 1', plain)), 128);
  t.is(listProcessors(read('; MaxNodes: 64 (of 70)', plain)), 64);
  t.is(listProcessors(read('; MaxProcs: -1', plain)), undefined);
  t.is(
    listProcessors(read('; MaxNodes: 144', '; MaxProcs: 1,152', plain)),
    144,
    'what is not a whole number says nothing',
  );
  t.is(listProcessors(read('; MaxProcs: 512; 430 for batch', plain)), 512);
});

test('a log read in pieces is the same log', (t) => {
  const bytes = new TextEncoder().encode(['; MaxProcs: 4', plain, '1 2', plain, 'x', plain].join('\n'));
  for (let size = 1; size < 120; size += 7) {
    const reader = new SwfReader('made.swf');
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    t.deepEqual(reader.finish(), parseSwf(bytes, 'made.swf'));
  }
});

test('a text without a single record is not a log', (t) => {
  const error = t.throws(() => read('; hello', '', 'job:', '  label: x'), { instanceOf: FormatError });
  t.is(error.code, 'MUT_SWF_SYNTAX');
  t.is(error.message, 'made.swf:3:1: found "job:", expected 18 numbers, as in a log of the Standard Workload Format');
  t.throws(() => read('1 2 3'), { instanceOf: FormatError });
});

test('a log of comments alone, or of nothing, is a log without records', (t) => {
  t.is(read('; MaxProcs: 4').records.length, 0);
  t.is(read('').records.length, 0);
});

test('records that cannot be replayed are dropped and counted by their first reason', (t) => {
  const { records } = read(
    line({ 2: 0, 4: 10, 5: 2, 8: 4 }),
    line({ 2: 0, 4: 10, 8: 4 }),
    line({ 4: 10, 5: 1 }),
    line({ 2: 0, 4: 0, 5: 1 }),
    line({ 2: 0, 5: 1 }),
    line({ 2: 0, 4: 10, 5: 0, 8: 0 }),
    line({ 2: 0, 4: 10, 5: 9 }),
  );
  const { requests, dropped } = selectRequests(records, { processors: 8 });
  t.deepEqual(
    requests.map(({ width }) => width),
    [2, 4],
  );
  t.deepEqual(dropped, { noSubmitTime: 1, noRunTime: 2, noProcessors: 1, tooWide: 1, tooLong: 0 });
});

test('a record with a time of more than three thousand years is dropped and counted, whichever time it is', (t) => {
  const { records } = read(
    line({ 2: 0, 4: 10, 5: 1, 9: 1e11 }),
    line({ 2: '1e306', 4: 10, 5: 1 }),
    line({ 2: 1, 3: '2e11', 4: 10, 5: 1 }),
    line({ 2: 1, 4: '1e306', 5: 1 }),
    line({ 2: 1, 4: 10, 5: 1, 9: '2e11' }),
  );
  const { requests, dropped } = selectRequests(records, { processors: 8 });
  t.deepEqual(
    requests.map(({ walltime }) => walltime),
    [1e14],
  );
  t.deepEqual(dropped, { noSubmitTime: 0, noRunTime: 0, noProcessors: 0, tooWide: 0, tooLong: 4 });
});

test('a record without submission time comes first and is not out of order', (t) => {
  const { records, outOfOrderCount } = read(line({ 1: 1, 2: 5 }), line({ 1: 2 }), line({ 1: 3, 2: 4 }));
  t.deepEqual(
    records.map(({ jobId }) => jobId),
    [2, 3, 1],
  );
  t.is(outOfOrderCount, 1);
});

test('the walltime is the larger of requested time and run time, unless requests are killed at the requested time', (t) => {
  const { records } = read(
    line({ 2: 0, 4: 10, 5: 1, 9: 30 }),
    line({ 2: 0, 4: 50, 5: 1, 9: 30 }),
    line({ 2: 0, 4: 50, 5: 1 }),
  );
  const times = (killsAtRequestedTime: boolean) =>
    selectRequests(records, { processors: 1, killsAtRequestedTime }).requests.map(({ runTime, walltime }) => [
      runTime / 1000,
      walltime / 1000,
    ]);
  t.deepEqual(times(false), [
    [10, 30],
    [50, 50],
    [50, 50],
  ]);
  t.deepEqual(times(true), [
    [10, 30],
    [30, 30],
    [50, 50],
  ]);
  const { overrunCount, noRequestedTimeCount } = selectRequests(records, { processors: 1 });
  t.deepEqual([overrunCount, noRequestedTimeCount], [1, 1]);
});
