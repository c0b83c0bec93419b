import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import anyTest, { type TestFn } from 'ava';
import { runCommandLine, withOptions } from '@mutirao/testkit';

const test = anyTest as TestFn<{ directory: string }>;
const fixture = readFileSync(new URL('../../../../core/test/fixtures/backfilling-40.swf', import.meta.url), 'utf8');
const starts = readFileSync(
  new URL('../../../../core/test/fixtures/backfilling-40.starts.csv', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => line.split(','));

test.beforeEach((t) => {
  t.context.directory = mkdtempSync(join(tmpdir(), 'mutirao-sim-'));
  writeFileSync(join(t.context.directory, 'trace.swf'), fixture);
});

test.afterEach.always((t) => {
  rmSync(t.context.directory, { recursive: true });
});

const cases: readonly (readonly [words: readonly string[], column: string])[] = [
  [['--policy', 'fcfs'], 'fcfs'],
  [['--policy', 'easy'], 'easy'],
  [[], 'conservative_start_now'],
  [['--policy', 'conservative', '--variant', 'reinsert'], 'conservative_reinsert'],
];

for (const [words, column] of cases) {
  test(`sim trace ${words.join(' ')} writes the starts of ${column}`, async (t) => {
    const { directory } = t.context;
    const { status } = await runCommandLine(['sim', 'trace', 'trace.swf', ...words, '--starts', 'out.csv'], {
      directory,
    });
    const at = starts[0]?.indexOf(column) ?? -1;
    const wanted = starts.slice(1).map((row) => [row[0], row[1], row[at], Number(row[at]) + Number(row[4])].join(','));
    t.is(status, 0);
    t.is(readFileSync(join(directory, 'out.csv'), 'utf8'), `job_id,submit,start,end\n${wanted.join('\n')}\n`);
  });
}

test('sim trace --json has the measures and what was made of each line, and takes a gzipped file', async (t) => {
  const { directory } = t.context;
  writeFileSync(
    join(directory, 'trace.swf.gz'),
    gzipSync(`${fixture}\n1 2 3\n${fixture.split('\n')[2]} x\n9 9 9 9 99 9 9 9 9 9 9 9 9 9 9 9 9 9\n`),
  );
  const { status, out, err } = await runCommandLine(['sim', 'trace', 'trace.swf.gz', '--json'], { directory });
  const document = JSON.parse(out) as Record<string, unknown> & { trace: Record<string, unknown> };
  t.is(status, 0);
  t.like(document, { policy: 'conservative start-now', bounded_slowdown_threshold_s: 10, load_factor: 1 });
  t.like(document.trace, {
    processors: 10,
    request_count: 41,
    short_dropped_count: 1,
    long_count: 1,
    too_wide_dropped_count: 1,
    out_of_order_count: 2,
  });
  t.regex(
    err,
    /41 requests of 42 records on 10 processors; 1 line with fewer than 18 fields dropped; 1 record wider than 10 processors dropped/,
  );
});

test('sim trace --buc-weight has users first who estimate well, and counts no overrun', async (t) => {
  const { directory } = t.context;
  const line = (id: number, submit: number, [runTime, requested]: readonly [number, number], user: number) =>
    `${id} ${submit} 0 ${runTime} 8 -1 -1 8 ${requested} -1 1 ${user} 1 1 1 1 -1 -1\n`;
  const [exact, careless, overrun] = [1, 2, 3];
  // Each has ended one of an hour; then all ask for an hour while the machine is busy, the careless one first.
  const log =
    line(1, 0, [3600, 3600], exact) +
    line(2, 4000, [1, 3600], careless) +
    line(3, 5000, [4000, 3600], overrun) +
    line(4, 10_000, [9000, 9000], 4) +
    line(5, 10_001, [60, 3600], careless) +
    line(6, 10_002, [60, 3600], overrun) +
    line(7, 10_003, [60, 3600], exact);
  writeFileSync(join(directory, 'users.swf'), `; MaxProcs: 8\n${log}`);
  const { status, out, err } = await runCommandLine(
    ['sim', 'trace', 'users.swf', '--policy', 'fcfs', '--buc-weight', '1440', '--starts', 'out.csv', '--json'],
    { directory },
  );
  t.is(status, 0, err);
  t.is((JSON.parse(out) as { policy: string }).policy, 'fcfs by scores, K = 1440');
  t.deepEqual(
    readFileSync(join(directory, 'out.csv'), 'utf8')
      .trimEnd()
      .split('\n')
      .slice(5)
      .map((row) => row.split(',')[2]),
    ['19120', '19060', '19000'],
  );
});

test('sim trace drops records with absurd times, says so, and replays the others', async (t) => {
  const { directory } = t.context;
  const line = (submit: string, runTime: string) => `1 ${submit} 0 ${runTime} 4 -1 -1 4 10 -1 1 1 1 1 1 1 -1 -1\n`;
  writeFileSync(
    join(directory, 'absurd.swf'),
    `; MaxProcs: 8\n${line('0', '10')}${line('5', '1e306')}${line('1e306', '10')}`,
  );
  const { status, err } = await runCommandLine(['sim', 'trace', 'absurd.swf', '--starts', 'out.csv'], { directory });
  t.is(status, 0);
  t.regex(err, /^1 request of 3 records on 8 processors; 2 records with a time beyond 3,000 years dropped$/m);
  t.is(readFileSync(join(directory, 'out.csv'), 'utf8'), 'job_id,submit,start,end\n1,0,0,10\n');
});

const job = ['sim', 'job', '--trace', 'trace.swf', '--heuristic', 'static', '--tasks', '10', '--mean', '20'];

test('sim job reports every run and the mean, the same for the same seed', async (t) => {
  const { directory } = t.context;
  const words = [...job, '--runs', '5', '--max-requests', '2', '--max-time', '1h', '--heterogeneity', '4', '--json'];
  const once = await runCommandLine([...words, '--seed', '7'], { directory });
  const document = JSON.parse(once.out) as {
    runs: { turnaround_s: number; requests_made: number }[];
    turnaround_s: { mean: number; half_interval_95: number };
  };
  t.is(once.status, 0);
  t.is(document.runs.length, 5);
  t.true(document.runs.every(({ turnaround_s, requests_made }) => turnaround_s >= 20 && requests_made === 2));
  t.true(
    Math.abs(document.turnaround_s.mean - document.runs.reduce((sum, { turnaround_s }) => sum + turnaround_s, 0) / 5) <
      1e-9,
  );
  t.true(document.turnaround_s.half_interval_95 > 0);
  t.deepEqual(await runCommandLine([...words, '--seed', '7'], { directory }), once);
  t.not((await runCommandLine([...words, '--seed', '8'], { directory })).out, once.out);
});

const refusals: readonly (readonly [words: readonly string[], message: RegExp])[] = [
  [['sim', 'trace', 'none.swf'], /MUT_FILE_NOT_FOUND there is no file none\.swf/],
  [['sim', 'trace', 'not.swf'], /MUT_SWF_SYNTAX not\.swf:1:1: found "hello", expected 18 numbers/],
  [['sim', 'trace', 'cut.swf.gz'], /MUT_SWF_SYNTAX cut\.swf\.gz begins as a gzip file/],
  [['sim', 'trace', 'empty.swf'], /MUT_TRACE_EMPTY empty\.swf holds no record/],
  [
    ['sim', 'trace', 'comments.swf'],
    /MUT_TRACE_EMPTY comments\.swf holds no request to replay: 0 requests of 0 records on 10 processors/,
  ],
  [['sim', 'trace', 'headless.swf'], /MUT_BAD_REQUEST headless\.swf does not say how many processors/],
  [
    ['sim', 'trace', 'huge.swf'],
    /MUT_BAD_REQUEST huge\.swf says that its machine has 5000000000 processors; expected --procs with at most 1000000/,
  ],
  [['sim', 'trace', '.'], /MUT_BAD_REQUEST cannot read \.: /],
  [['sim', 'trace', 'trace.swf', '--procs', '0'], /MUT_BAD_REQUEST --procs is "0"; expected a whole number in 1\.\./],
  [['sim', 'trace', 'trace.swf', '--policy', 'sjf'], /--policy is "sjf"; expected one of fcfs, easy, conservative/],
  [['sim', 'trace', 'trace.swf', '--variant', 'x'], /--variant is "x"; expected one of start-now, reinsert/],
  [
    ['sim', 'trace', 'trace.swf', '--policy', 'easy', '--variant', 'reinsert'],
    /--variant is "reinsert"; expected none/,
  ],
  [
    ['sim', 'trace', 'trace.swf', '--policy', 'easy', '--buc-weight', '0'],
    /--buc-weight is "0"; expected a whole number in 1/,
  ],
  [['sim', 'trace', 'trace.swf', '--load-factor', '-1'], /--load-factor is "-1"/],
  [['sim', 'trace', 'trace.swf', '--starts', 'trace.swf/out.csv'], /MUT_BAD_REQUEST cannot write /],
  [['sim', 'trace'], /needs <file>/],
  [withOptions(job, '--heterogeneity', '3'), /--heterogeneity is "3"; expected one of 1, 2, 4/],
  [withOptions(job, '--heuristic', 'best'), /--heuristic is "best"; expected one of static/],
  [withOptions(job, '--tasks', '0'), /--tasks is "0"/],
  [withOptions(job, '--mean', '0'), /--mean is "0"; expected more than 0 s/],
  [
    withOptions(job, '--mean', '2h', '--heterogeneity', '4', '--max-time', '2h'),
    /tasks last up to 12600 s and no request lasts longer than 7200 s/,
  ],
  [withOptions(job, '--runs', 'many'), /--runs is "many"/],
];

for (const [words, message] of refusals) {
  test(`mutirao ${words.join(' ')} is refused`, async (t) => {
    const { directory } = t.context;
    writeFileSync(join(directory, 'not.swf'), 'hello\nworld\n');
    writeFileSync(join(directory, 'cut.swf.gz'), gzipSync(fixture).subarray(0, 100));
    writeFileSync(join(directory, 'empty.swf'), '');
    writeFileSync(join(directory, 'comments.swf'), '; MaxProcs: 10\n');
    writeFileSync(join(directory, 'headless.swf'), fixture.split('\n').slice(2).join('\n'));
    writeFileSync(join(directory, 'huge.swf'), '; MaxProcs: 5000000000\n');
    const { status, out, err } = await runCommandLine(words, { directory });
    t.is(status, 2);
    t.is(out, '');
    t.regex(err, message);
  });
}
