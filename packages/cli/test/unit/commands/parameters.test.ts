import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import anyTest, { type TestFn } from 'ava';
import type { JobSpec, SubmitJobRequest } from '@mutirao/api/broker';
import { runCommandLine } from '@mutirao/testkit';

const test = anyTest as TestFn<{ folder: string }>;

test.beforeEach((t) => {
  t.context.folder = mkdtempSync(join(tmpdir(), 'mutirao-parameters-'));
});
test.afterEach.always((t) => {
  rmSync(t.context.folder, { recursive: true });
});

/** Submits to a broker that takes everything, and returns what it was sent. */
async function submitted(
  argv: readonly string[],
  directory = '/project',
): Promise<{ job: JobSpec | undefined; err: string; status: number }> {
  const requests: SubmitJobRequest[] = [];
  const submitJob = (request: SubmitJobRequest) => {
    requests.push(request);
    return Promise.resolve({ jobId: 5, taskCount: 3, warnings: [] });
  };
  const ran = await runCommandLine(['job', 'submit', ...argv], { broker: { submitJob }, directory });
  return { ...ran, job: requests[0]?.job };
}

const rowsOf = (job: JobSpec | undefined): unknown[] => {
  const values = job?.groups[0]?.values;
  return values?.$case === 'list' ? values.value.values.map((value): unknown => JSON.parse(value)) : [];
};

test('parameters make every combination, named in command, paths, check and label', async (t) => {
  const { job, status, err } = await submitted([
    '--param=a=1..2',
    '--param=b=x,y',
    '--put=in-{a}.txt',
    '--get=out:out-{a}-{b}.txt',
    '--check=test -s out-{a}-{b}.txt',
    '--label=sweep {a} {b}',
    '--',
    'run',
    '--alpha={a}',
    '{b}',
  ]);
  t.is(err, '');
  t.is(status, 0);
  t.is(job?.label, 'sweep 1..2 x,y');
  t.deepEqual(rowsOf(job), [
    { a: '1', b: 'x' },
    { a: '1', b: 'y' },
    { a: '2', b: 'x' },
    { a: '2', b: 'y' },
  ]);
  const group = job?.groups[0];
  t.is(group?.command, 'run --alpha={=a} {=b}');
  t.is(group?.check, 'test -s out-{=a}-{=b}.txt');
  t.deepEqual(group?.inputs[0]?.source?.source, { $case: 'localPath', value: '/project/in-{=a}.txt' });
  t.is(group?.outputs[0]?.localPath, '/project/out-{=a}-{=b}.txt');
});

test('one parameter with a range of a million values stays three numbers', async (t) => {
  const { job } = await submitted(['--param', 'seed=1..1000000', '--', 'sim {seed}']);
  t.deepEqual(job?.groups[0]?.values, { $case: 'range', value: { first: 1, count: 1_000_000, step: 1 } });
  t.is(job?.groups[0]?.command, 'sim {}');
});

test('a file gives a parameter per column, with a tab by its name', async (t) => {
  writeFileSync(join(t.context.folder, 'sweep.csv'), '\uFEFFmodel,rate\r\n"resnet, deep",0.1\r\nvgg,0.2\r\n');
  writeFileSync(join(t.context.folder, 'sweep.tsv'), 'x y\t1,5\n');
  const { job } = await submitted(['--param-file', 'sweep.csv', '--', 'train {model} {rate}'], t.context.folder);
  t.deepEqual(rowsOf(job), [
    { model: 'resnet, deep', rate: '0.1' },
    { model: 'vgg', rate: '0.2' },
  ]);
  const tabs = await submitted(['--param-file', 'sweep.tsv', '--no-header', '--', 'train {1} {2}'], t.context.folder);
  t.deepEqual(rowsOf(tabs.job), [{ 1: 'x y', 2: '1,5' }]);
  t.is(tabs.job?.groups[0]?.command, 'train {=1} {=2}');
});

test('--zip takes first values together', async (t) => {
  const { job } = await submitted(['--zip', '--param=a=1..2', '--param=b=x,y', '--', 'run {a} {b}']);
  t.deepEqual(rowsOf(job), [
    { a: '1', b: 'x' },
    { a: '2', b: 'y' },
  ]);
  const { err, status } = await submitted(['--zip', '--param=a=1..3', '--param=b=x,y', '--', 'run {a} {b}']);
  t.regex(err, /different numbers of values: a has 3, b has 2; expected equal ones/);
  t.is(status, 2);
});

const refusals: readonly (readonly [name: string, argv: readonly string[], message: RegExp])[] = [
  [
    'an unknown name',
    ['--param=alpha=1..2', '--', 'run {alhpa}'],
    /\{alhpa\} in the command .* Did you mean \{alpha\}\?/,
  ],
  [
    'an unknown name in a path',
    ['--param=a=1..2', '--get=out:{b}', '--', 'run {a}'],
    /\{b\} in --get "out:\{b\}" is none/,
  ],
  [
    'too many tasks',
    ['--param=a=1..2000', '--param=b=1..1000', '--', 'run {a}'],
    /2000 x 1000 = 2000000 tasks; expected at most 1000000/,
  ],
  ['other values beside', ['--param=a=1..2', '--array=1-2', '--', 'run {a}'], /--array and --param are given/],
  ['--zip alone', ['--zip', '--', 'run'], /--zip is given without --param or --param-file/],
  [
    '--separator without a file',
    ['--param=a=1', '--separator=;', '--', 'run'],
    /--separator is given without --param-file/,
  ],
  [
    'a long separator',
    ['--param-file=x.csv', '--separator=ab', '--', 'run'],
    /--separator is "ab"; expected one character|there is no file/,
  ],
  [
    'a name in the environment',
    ['--param=a=1,2', '--env=X={a}', '--', 'run'],
    /"X=\{a\}" has \{a\}, and is the same for all tasks/,
  ],
];

for (const [name, argv, message] of refusals)
  test(`refused: ${name}`, async (t) => {
    const { err, status, job } = await submitted(argv);
    t.regex(err, message);
    t.is(job, undefined);
    t.is(status, 2);
  });

test('a job file together with parameters is refused', async (t) => {
  const { err } = await submitted(['--param=a=1,2', 'x.jdf'], t.context.folder);
  t.regex(err, /--param/);
});
