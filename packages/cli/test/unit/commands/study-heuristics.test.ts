import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { decodeResult, heuristicsTraces, listChunks, wholeStudy, type HeuristicsChunk } from '@mutirao/sim/heuristics';
import { runCommandLine, temporaryFolder, withOptions } from '@mutirao/testkit';
import { HeuristicsPartRunner } from '../../../src/simulation/study/heuristics-part-runner.ts';
import { getProgram } from '../../../src/simulation/study/heuristics-program.ts';

const fixture = readFileSync(new URL('../../../../core/test/fixtures/backfilling-40.swf', import.meta.url), 'utf8');
const words = ['sim', 'study', 'heuristics'];
const small = [
  '--types',
  '100x100s-2x',
  '--instants',
  '3',
  '--max-pending',
  '1,2',
  '--heuristics',
  'mixed',
  '--policies',
  'start-now,easy',
  '--parts',
  'main,queues',
];
const own = ['--trace', 'own.swf', '--processors', '10', '--max-walltime', '5h', ...small];

/** A folder with a small log of one's own, and the same under the names of the archived ones. */
function writeLogs(directory: string): string {
  writeFileSync(join(directory, 'own.swf'), fixture);
  mkdirSync(join(directory, 'data', 'swf'), { recursive: true });
  for (const { file } of heuristicsTraces) writeFileSync(join(directory, 'data', file), gzipSync(fixture));
  return directory;
}

/** All result files of a study's folder, by name. */
function resultsIn(folder: string): Map<string, string> {
  return new Map(
    readdirSync(join(folder, 'chunks'))
      .sort()
      .map((name) => [name, readFileSync(join(folder, 'chunks', name), 'utf8')]),
  );
}

test("a log of one's own is studied to its page, and what was done is not done again", async (t) => {
  const directory = writeLogs(temporaryFolder(t));
  const { status, out, err } = await runCommandLine([...words, ...own, '--workers', '1', '--out', 'out', '--json'], {
    directory,
  });
  t.is(status, 0, err);
  const report = join(directory, 'out', 'heuristics.md');
  t.deepEqual(JSON.parse(out), {
    study: 'heuristics',
    quick: false,
    seed: '1',
    directory: join(directory, 'out'),
    report,
    part_count: 6,
    run_count: 6 * 3 + 3 * 3,
  });
  const page = readFileSync(report, 'utf8');
  t.regex(page, /\| own \| 10 \| 40 \|/);
  t.regex(page, /\| own \| `start-now` \| 2 \|/);
  t.regex(page, /## First come, first served, and EASY\n\n.*\n.*\n\| own \| `easy` \| 1 \|/);
  t.true(readFileSync(join(directory, 'out', 'heuristics', 'speedup-start-now.svg'), 'utf8').startsWith('<svg'));
  const results = resultsIn(join(directory, 'out'));
  t.is(results.size, 6);

  rmSync(join(directory, 'out', 'chunks', 'main.own-own.start-now.100x100s-2x.mixed.jsonl'));
  const again = await runCommandLine([...words, ...own, '--workers', '2', '--out', 'out'], { directory });
  t.true(again.err.includes('5 of 6 parts are done already'), again.err);
  t.deepEqual(resultsIn(join(directory, 'out')), results);
  t.is(readFileSync(report, 'utf8'), page);

  const more = await runCommandLine(withOptions([...words, ...own], '--heuristics', 'mixed,initial', '--out', 'out'), {
    directory,
  });
  t.true(more.err.includes('6 of 8 parts are done already'), more.err);
});

test("results of a program that decides otherwise are not mixed with this one's: they are run again, and it is said", async (t) => {
  const directory = writeLogs(temporaryFolder(t));
  const options = withOptions(
    [...words, '--traces', 'sp2', ...small],
    '--policies',
    'start-now',
    '--parts',
    'main',
    '--data',
    'data',
    '--out',
    'out',
  );
  t.is((await runCommandLine(options, { directory })).status, 0);
  const results = resultsIn(join(directory, 'out'));
  const path = join(directory, 'out', 'chunks', 'main.sp2.start-now.100x100s-2x.mixed.jsonl');
  writeFileSync(path, readFileSync(path, 'utf8').replace(getProgram('mixed'), getProgram('finish')));
  const again = await runCommandLine(options, { directory });
  t.true(
    again.err.includes('1 parts are incomplete or from another version of the program; running them again'),
    again.err,
  );
  t.deepEqual(resultsIn(join(directory, 'out')), results);
});

test('what others come to is of the same program when only finish is another', (t) => {
  t.not(getProgram('finish'), getProgram('mixed'));
  t.is(getProgram('static'), getProgram('mixed'));
  t.regex(getProgram('static'), /^[0-9a-f]{16}$/);
});

test('two workers, one worker and this process come to the same records', async (t) => {
  const directory = writeLogs(temporaryFolder(t));
  const archived = [...words, '--traces', 'sp2,lanl', '--data', 'data', ...small];
  for (const count of ['1', '2'])
    t.is((await runCommandLine([...archived, '--workers', count, '--out', count], { directory })).status, 0);
  const results = resultsIn(join(directory, '2'));
  t.deepEqual(results, resultsIn(join(directory, '1')));
  t.is(results.size, 12);
  const chunk = listChunks({
    ...wholeStudy('1'),
    instants: 3,
    pending: [1, 2],
    heuristics: ['static', 'adaptive', 'mixed'],
  }).find(({ id }) => id === 'main.lanl.start-now.100x100s-2x.mixed') as HeuristicsChunk;
  const alone = new HeuristicsPartRunner(join(directory, 'data'), '1').run(chunk);
  t.is(results.get(`${chunk.id}.jsonl`), alone);
  t.is(decodeResult(alone, chunk, { seed: '1', program: getProgram('mixed') })?.facts.requestCount, 40);
});

test('parts can be run by themselves, on a grid, and are taken by the study', async (t) => {
  const directory = writeLogs(temporaryFolder(t));
  const options = withOptions(
    ['--traces', 'sp2', ...small],
    '--policies',
    'start-now',
    '--parts',
    'main',
    '--data',
    'data',
    '--out',
    'out',
  );
  const { status, out, err } = await runCommandLine(
    [...words, ...options, '--export-jdf', '--command', 'mutirao', '--quiet'],
    { directory },
  );
  t.is(status, 0, err);
  const tasks = [
    ...readFileSync(out.trim(), 'utf8').matchAll(/^remote: mutirao (.*) --data "\$STORAGE" --out result\.jsonl$/gm),
  ].map(([, line = '']) => line.split(' '));
  t.is(tasks.length, 3);
  for (const task of tasks) {
    const part = await runCommandLine(
      [...task, '--data', 'data', '--out', join('out', 'chunks', `${task[3] ?? ''}.jsonl`), '--json'],
      { directory },
    );
    t.is(part.status, 0, part.err);
    t.like(JSON.parse(part.out), { part: task[3], run_count: 6 });
  }
  const whole = await runCommandLine([...words, ...options], { directory });
  t.is(whole.status, 0, whole.err);
  t.true(whole.err.includes('3 of 3 parts are done already'));
});

test('a log without requested times, one that is not there, and one without processors are refused', async (t) => {
  const directory = writeLogs(temporaryFolder(t));
  const withoutTimes = fixture
    .split('\n')
    .map((line) =>
      line.startsWith(';') || line.trim() === ''
        ? line
        : line
            .trim()
            .split(/\s+/)
            .map((field, index) => (index === 8 ? '-1' : field))
            .join(' '),
    )
    .join('\n');
  writeFileSync(join(directory, 'exact.swf'), withoutTimes);
  const exact = await runCommandLine([...words, '--trace', 'exact.swf', '--processors', '10', '--out', 'out'], {
    directory,
  });
  t.is(exact.status, 2);
  t.regex(
    exact.err,
    /MUT_BAD_REQUEST .*exact\.swf says of none of its 40 requests for how long its user asked; expected a log with requested times/,
  );
  t.regex(
    (await runCommandLine([...words, '--trace', 'none.swf', '--out', 'out'], { directory })).err,
    /MUT_FILE_NOT_FOUND .*there is no file none\.swf/,
  );
  writeFileSync(
    join(directory, 'bare.swf'),
    fixture
      .split('\n')
      .filter((line) => !line.startsWith(';'))
      .join('\n'),
  );
  t.regex(
    (await runCommandLine([...words, '--trace', 'bare.swf', '--out', 'out'], { directory })).err,
    /MUT_BAD_REQUEST .*does not say how many processors its machine has/,
  );
  t.deepEqual(readdirSync(directory).includes('out'), false);
});

test('options with unknown names, or of another study, are refused', async (t) => {
  const directory = writeLogs(temporaryFolder(t));
  const cases: readonly (readonly [options: readonly string[], message: RegExp])[] = [
    [['--traces', 'nasa'], /--traces names "nasa"; expected some of sp2, blue, ctc, ctc-338, lanl/],
    [['--heuristics', 'best'], /--heuristics names "best"; expected some of static, /],
    [['--policies', 'sjf'], /--policies names "sjf"; expected some of start-now, reinsert, fcfs, easy/],
    [['--parts', 'all'], /--parts names "all"; expected some of main, queues, /],
    [['--types', '50x100s'], /--types names "50x100s"; expected tasks of 100, /],
    [['--max-pending', '0'], /--max-pending is "0"; expected a whole number in 1\.\.32/],
    [['--instants', '1'], /--instants is "1"; expected a whole number in 2\.\./],
    [['--traces', ','], /--traces is ","; expected names between commas/],
    [['--processors', '8'], /--processors is for a log of your own; expected --trace with it/],
    [['--trace', 'own.swf', '--traces', 'sp2'], /--trace and --traces are both there; expected one of them/],
    [['--trace', 'own.swf', '--processors', '0'], /--processors is "0"; expected a whole number in 1\.\./],
    [['--trace', 'own.swf', '--max-walltime', '4h'], /--max-walltime is "4h"; expected 17500 s or more/],
    [['--trace', 'own.swf', '--export-jdf'], /--export-jdf is for the archived logs/],
    [['--experiments', '2'], /--experiments is for the study gonzalez2010, not for heuristics/],
    [['--policies', 'fcfs', '--parts', 'main'], /no part of the study has any of these policies/],
  ];
  for (const [options, message] of cases) {
    const { status, err } = await runCommandLine([...words, ...options, '--data', 'data', '--out', 'out'], {
      directory,
    });
    t.is(status, 2, options.join(' '));
    t.regex(err, message);
  }
  const other = await runCommandLine(['sim', 'study', 'eager', '--instants', '9', '--out', 'out'], { directory });
  t.regex(other.err, /--instants is for the study heuristics, not for eager/);
  const part = await runCommandLine(
    ['sim', 'study-chunk', 'gonzalez2010', 'x', '--traces', 'sp2', '--data', 'data', '--out', 'out'],
    { directory },
  );
  t.regex(part.err, /--traces is for the study heuristics, not for gonzalez2010/);
});

test('a folder of another seed is refused, and logs that are missing are named', async (t) => {
  const directory = writeLogs(temporaryFolder(t));
  t.is(
    (await runCommandLine(withOptions([...words, ...own], '--parts', 'queues', '--out', 'out'), { directory })).status,
    0,
  );
  const other = await runCommandLine([...words, ...own, '--seed', '2', '--out', 'out'], { directory });
  t.is(other.status, 2);
  t.regex(other.err, /holds another study: .*"seed":"1".*expected .*"seed":"2"/);
  rmSync(join(directory, 'data', 'swf', 'LANL-CM5-1994-4.1-cln.swf.gz'));
  const missing = await runCommandLine([...words, ...small, '--data', 'data', '--out', 'else'], { directory });
  t.is(missing.status, 3);
  t.regex(missing.err, /MUT_DATA_MISSING .*swf\/LANL-CM5-1994-4\.1-cln\.swf\.gz/);
});
