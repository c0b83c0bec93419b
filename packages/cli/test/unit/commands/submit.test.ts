import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import anyTest, { type TestFn } from 'ava';
import { JobStatus, type JobSpec, type SubmitJobRequest } from '@mutirao/api/broker';
import { MutiraoError, registry } from '@mutirao/api/errors';
import { aJobSummary, runCommandLine } from '@mutirao/testkit';

/** As the wire has them. */
const root = { playpen: 1, storage: 2 } as const;

const test = anyTest as TestFn<{ folder: string }>;

test.beforeEach((t) => {
  t.context.folder = mkdtempSync(join(tmpdir(), 'mutirao-submit-'));
});
test.afterEach.always((t) => {
  rmSync(t.context.folder, { recursive: true });
});

/** Submits to a broker that takes everything, and returns what it was sent. */
async function submitted(
  argv: readonly string[],
  directory = '/project',
): Promise<{ job: JobSpec | undefined; out: string; err: string; status: number }> {
  const requests: SubmitJobRequest[] = [];
  const submitJob = (request: SubmitJobRequest) => {
    requests.push(request);
    return Promise.resolve({ jobId: 5, taskCount: 3, warnings: [] });
  };
  return { ...(await runCommandLine(argv, { broker: { submitJob }, directory })), job: requests[0]?.job };
}

test('an array stays three numbers, and the words after -- become a command whose words stay whole', async (t) => {
  const { job, out, status } = await submitted([
    'job',
    'submit',
    '--array',
    '1-1000:3',
    '--',
    'render',
    '--name',
    'a b',
    '{}',
  ]);
  t.is(status, 0);
  t.is(out, 'Job 5 is submitted with 3 tasks. "mutirao job wait 5" waits for it.\n');
  t.deepEqual(job?.groups[0]?.values, { $case: 'range', value: { first: 1, count: 334, step: 3 } });
  t.is(job?.groups[0]?.command, "render --name 'a b' {}");
});

test('a single word after -- is a line for the shell', async (t) => {
  t.is(
    (await submitted(['job', 'submit', '--values', 'x,y', '--', 'echo {} > out'])).job?.groups[0]?.command,
    'echo {} > out',
  );
});

test('options after -- belong to the command', async (t) => {
  t.is((await submitted(['job', 'submit', '--', 'ls', '--json'])).job?.groups[0]?.command, 'ls --json');
});

test('put, store and get take a path each, or two; those at home start from the current folder', async (t) => {
  const { job } = await submitted([
    'job',
    'submit',
    '--values',
    'a',
    '--put',
    'in/{}.dat',
    '--store',
    'prog:bin/prog',
    '--get',
    'out:results/{}.out',
    '--get',
    '$STORAGE/log',
    '--',
    'true',
  ]);
  const group = job?.groups[0];
  t.deepEqual(group?.inputs, [
    {
      source: { source: { $case: 'localPath', value: '/project/in/{}.dat' } },
      root: root.playpen,
      path: '{}.dat',
      condition: '',
    },
    {
      source: { source: { $case: 'localPath', value: '/project/prog' } },
      root: root.storage,
      path: 'bin/prog',
      condition: '',
    },
  ]);
  t.deepEqual(group?.outputs, [
    { root: root.playpen, path: 'out', localPath: '/project/results/{}.out', condition: '' },
    { root: root.storage, path: 'log', localPath: '/project/log', condition: '' },
  ]);
});

test('a job in the folder of submission names its files at their own places, and runs each task once at a time', async (t) => {
  const { job, err } = await submitted([
    'job',
    'submit',
    '--in-place',
    '--array',
    '1-2',
    '--put',
    'sub/in.dat',
    '--store',
    'lib/prog',
    '--get',
    'sub/out-{}',
    '--get',
    '$STORAGE/log',
    '--',
    'true',
  ]);
  t.like(job, { workFolder: '/project', replicasMax: 1 }, err);
  t.like(job?.groups[0]?.inputs, {
    0: { root: root.playpen, path: 'sub/in.dat' },
    1: { root: root.storage, path: 'prog' },
  });
  t.like(job?.groups[0]?.outputs, {
    0: { path: 'sub/out-{}', localPath: '/project/sub/out-{}' },
    1: { root: root.storage, path: 'log', localPath: '/project/log' },
  });
  const { job: other } = await submitted([
    'job',
    'submit',
    '--chdir',
    '../study',
    '--put',
    '../study/in.dat',
    '--replicas',
    '2',
    '--',
    'true',
  ]);
  t.like(other, { workFolder: '/study', replicasMax: 2 });
  t.like(other?.groups[0]?.inputs, { 0: { path: 'in.dat' } });
  t.is((await submitted(['job', 'submit', '--', 'true'])).job?.workFolder, undefined);
  for (const words of [
    ['--in-place', '--chdir', 'x'],
    ['--chdir', ''],
    ['--in-place', '--put', '../elsewhere/x'],
  ]) {
    const { status, job: refused } = await submitted(['job', 'submit', ...words, '--', 'true']);
    t.is(status, 2);
    t.is(refused, undefined);
  }
});

test('limits, bounds and environment arrive in the units of the wire', async (t) => {
  const { job } = await submitted([
    'job',
    'submit',
    '--limit-time',
    '1h30m',
    '--limit-memory',
    '2GiB',
    '--limit-output',
    '64K',
    '--replicas',
    '4',
    '--retries',
    '0',
    '--processors',
    '2',
    '--env',
    'A=1',
    '--env',
    'B=x=y',
    '--label',
    'many words',
    '--',
    'true',
  ]);
  t.deepEqual(job?.limits, { runTimeMsMax: 5_400_000, memoryBytesMax: 2 ** 31, outputBytesMax: 65_536 });
  t.like(job, { replicasMax: 4, failuresMax: 1, processors: 2, label: 'many words', homeDirectory: '/project' });
  t.deepEqual(job?.environment, { A: '1', B: 'x=y' });
});

test('how many tasks may fail is a count, or a share of the tasks, rounded up', async (t) => {
  const allowed = async (value: string): Promise<number | undefined> => {
    const { job } = await submitted(['job', 'submit', '--array', '1-30', '--failures-max', value, '--', 'true {}']);
    return job?.failedTasksMax;
  };
  t.deepEqual(await Promise.all(['10', '5%', '0.1%', '100%'].map(allowed)), [10, 2, 1, 30]);
});

test('a factor for memory that was too little is sent with the job', async (t) => {
  for (const factor of ['x1.5', '1.5']) {
    const { job } = await submitted(['job', 'submit', '--memory', '1G', '--retry-memory', factor, '--', 'true']);
    t.is(job?.memoryGrowth, 1.5, factor);
  }
});

test('memory that is chosen by earlier tasks is sent with where it starts, and is doubled when it was too little', async (t) => {
  for (const [memory, start] of [
    ['auto', 2 ** 30],
    ['AUTO:3GiB', 3 * 2 ** 30],
  ] as const) {
    const { job } = await submitted(['job', 'submit', '--memory', memory, '--', 'true']);
    t.like(job, { memoryAuto: true, memoryGrowth: 2, resources: { memoryBytes: start } }, memory);
  }
  const { job } = await submitted(['job', 'submit', '--memory', 'auto', '--retry-memory', 'x3', '--', 'true']);
  t.is(job?.memoryGrowth, 3);
});

test('alternatives are sent with each group, and the time of the first request with them', async (t) => {
  const { job } = await submitted([
    ...['job', 'submit', '--gpus', '1', '--alternative', 'cpus=16,memory=8G,time=30m', '--alternative', 'cpus=4'],
    ...['--task-time', '5m', '--', 'true'],
  ]);
  t.is(job?.groups[0]?.expectedTimeMs, 300_000);
  t.deepEqual(job?.groups[0]?.alternatives, [
    {
      processors: 16,
      resources: { memoryBytes: 8 * 2 ** 30, gpuThousandths: 0, gpuKind: '', named: {} },
      expectedTimeMs: 1_800_000,
    },
    { processors: 4, resources: undefined, expectedTimeMs: undefined },
  ]);
});

test('a job file is read from its own folder, and options lie over it', async (t) => {
  writeFileSync(
    join(t.context.folder, 'sweep.jdf'),
    'job:\nlabel: sweep\ntask:\ninit: put a.txt a.txt\nremote: cat a.txt\n',
  );
  const { job } = await submitted(['job', 'submit', 'sweep.jdf', '--replicas', '1'], t.context.folder);
  t.like(job, { label: 'sweep', replicasMax: 1, homeDirectory: t.context.folder });
  t.deepEqual(job?.groups[0]?.inputs[0]?.source, {
    source: { $case: 'localPath', value: join(t.context.folder, 'a.txt') },
  });
  t.is((await submitted(['addjob', 'sweep.jdf'], t.context.folder)).job?.label, 'sweep');
});

test('each line of a file is a value', async (t) => {
  writeFileSync(join(t.context.folder, 'names'), 'ana\nbeto\n\n');
  const { job } = await submitted(['job', 'submit', '--each-line', 'names', '--', 'echo {}'], t.context.folder);
  t.deepEqual(job?.groups[0]?.values, { $case: 'list', value: { values: ['ana', 'beto'] } });
});

const refused: readonly (readonly [title: string, argv: readonly string[], error: RegExp])[] = [
  ['nothing to submit', [], /MUT_BAD_REQUEST there is nothing to submit/],
  ['a file that is not there', ['none.jdf'], /MUT_BAD_REQUEST there is no file .*none\.jdf/],
  [
    'a file and a command',
    ['a.jdf', '--', 'true'],
    /MUT_BAD_REQUEST "a\.jdf" and a command after "--" are given.*\nUse: mutirao job submit -- a\.jdf true\n/,
  ],
  ['no share', ['--failures-max', '0%', '--', 'true'], /--failures-max is "0%"; expected a count, or 1% to 100%/],
  [
    'no factor of memory',
    ['--memory', '1G', '--retry-memory', 'twice', '--', 'true'],
    /--retry-memory is "twice"; expected x1\.1 to x16, for example x2/,
  ],
  [
    'a factor that takes memory away',
    ['--memory', '1G', '--retry-memory', 'x1', '--', 'true'],
    /--retry-memory is "x1"/,
  ],
  [
    'memory by earlier tasks beside another limit',
    ['--memory', 'auto', '--limit-memory', '2G', '--', 'true'],
    /--memory auto and --limit-memory are given/,
  ],
  ['no memory to start with', ['--memory', 'auto:', '--', 'true'], /MUT_BAD_SIZE/],
  ['no alternative', ['--alternative', 'gpu=1', '--', 'true'], /alternative "gpu=1"/],
  ['more of no memory', ['--retry-memory', 'x2', '--', 'true'], /no task asks for memory; add --memory/],
  [
    'more memory beside another limit',
    ['--memory', '1G', '--limit-memory', '2G', '--retry-memory', 'x2', '--', 'true'],
    /--retry-memory and --limit-memory are given/,
  ],
  ['a file and an array', ['a.jdf', '--array', '1-2'], /MUT_BAD_REQUEST --array cannot be used with the file/],
  [
    'two sources of values',
    ['--array', '1-2', '--values', 'a', '--', 'x {}'],
    /MUT_BAD_REQUEST --array and --values are given/,
  ],
  ['a template without a value', ['--', 'echo {}'], /MUT_TEMPLATE_NO_VALUE/],
  ['a malformed selector', ['--array', '9-1', '--', 'x {}'], /MUT_BAD_SELECTOR/],
  ['a variable without a name', ['--env', '=1', '--', 'true'], /MUT_BAD_REQUEST --env is "=1"; expected NAME=VALUE/],
  [
    'a scheduler with a slip',
    ['--scheduler', 'min-mn', '--', 'true'],
    /--scheduler is "min-mn"; do you mean min-min\?/,
  ],
  [
    'a scheduler of another kind',
    ['--scheduler', 'fair-share', '--', 'true'],
    /--scheduler is "fair-share"; expected wqr, workqueue, storage-affinity, sufferage, min-min, plan/,
  ],
  [
    'a cap without its sign',
    ['--replication-budget', '20', '--', 'true'],
    /--replication-budget is "20"; expected none, idle or a percentage such as 20%/,
  ],
  [
    'a cap beyond all measure',
    ['--replication-budget', '1001%', '--', 'true'],
    /--replication-budget is "1001%"; expected 0% to 1000%/,
  ],
  ['a cap with a slip', ['--replication-budget', 'idel', '--', 'true'], /do you mean idle\?/],
  [
    'a site selection by a strategy with a slip',
    ['--site-selection', 'min-ctt:0.5', '--', 'true'],
    /--site-selection "min-ctt:0\.5" begins with no strategy; do you mean min-ct\?/,
  ],
  [
    'a site selection by a strategy of another kind',
    ['--site-selection', 'fair-share', '--', 'true'],
    /begins with no strategy; expected one of random, min-lp/,
  ],
  [
    'a site selection with an a above 1',
    ['--site-selection', 'min-ct:1.5', '--', 'true'],
    /has the admissibility "1\.5"; expected a number in 0\.\.1, or "adaptive"/,
  ],
  ['too many replicas', ['--replicas', '17', '--', 'true'], /--replicas is "17"; expected an integer in 1\.\.16/],
  ['a path that leaves the playpen', ['--put', 'x:../../etc/x', '--', 'true'], /error: MUT_PATH_\w+ /],
  ['a source without a name', ['--put', ':x', '--', 'true'], /expected SRC or SRC:DST, found ":x"/],
];
for (const [title, argv, error] of refused) {
  test(`refused before anything is sent: ${title}`, async (t) => {
    const { status, err, job } = await submitted(['job', 'submit', ...argv], t.context.folder);
    t.is(status, 2);
    t.regex(err, error);
    t.is(err.split('\n').length, 3, err);
    t.is(job, undefined);
  });
}

test('a broken job file is refused with file, line and column', async (t) => {
  writeFileSync(join(t.context.folder, 'bad.jdf'), 'job:\nlabel: x\ntask:\nremot: a\n');
  const { status, err } = await submitted(['job', 'submit', 'bad.jdf'], t.context.folder);
  t.is(status, 2);
  t.regex(err, /^error: MUT_JDF_SYNTAX bad\.jdf:4:\d+: found .* did you mean remote/);
});

test('all mistakes in a job file are reported at once, up to a limit', async (t) => {
  writeFileSync(
    join(t.context.folder, 'bad.jdf'),
    'job:\nrequirements: os = = linux\ntask:\nremot: a\ntask:\ninit: put a ../b\nremote: b\n',
  );
  const { status, err, job } = await submitted(['job', 'submit', 'bad.jdf'], t.context.folder);
  t.is(status, 2);
  t.is(job, undefined);
  t.deepEqual(
    err
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/ found .*/, '')),
    [
      'error: MUT_JDF_SYNTAX bad.jdf:2:20:',
      'error: MUT_JDF_SYNTAX bad.jdf:4:1:',
      'error: MUT_PATH_LEAVES_ROOT bad.jdf:6:13:',
      'Correct the file at the line and column that the message names; docs/reference/jdf.md has the grammar.',
      registry.MUT_PATH_LEAVES_ROOT.advice,
    ],
  );
  writeFileSync(join(t.context.folder, 'long.jdf'), `job:\n${'task:\nremote:\n'.repeat(90)}`);
  const lines = (await submitted(['job', 'submit', 'long.jdf'], t.context.folder)).err.trimEnd().split('\n');
  t.is(lines.filter((line) => line.startsWith('error: ')).length, 20);
  t.is(lines[20], 'and 70 more');
  writeFileSync(join(t.context.folder, 'longer.jdf'), `job:\n${'task:\nremote:\n'.repeat(9000)}`);
  t.regex(
    (await submitted(['job', 'submit', 'longer.jdf'], t.context.folder)).err,
    /^and 980 more, and the rest of the file was not read$/m,
  );
});

test('a job file may say how its tasks are placed, and the option goes before it', async (t) => {
  writeFileSync(join(t.context.folder, 'placed.jdf'), 'job:\nsite-selection: min-ct:0.5\ntask:\nremote: a\n');
  t.is((await submitted(['job', 'submit', 'placed.jdf'], t.context.folder)).job?.siteSelection, 'min-ct:0.5');
  t.is(
    (await submitted(['job', 'submit', 'placed.jdf', '--site-selection', 'none'], t.context.folder)).job?.siteSelection,
    'none',
  );
  writeFileSync(join(t.context.folder, 'placed.jdf'), 'job:\nsite-selection: min-ct:2\ntask:\nremote: a\n');
  t.regex(
    (await submitted(['job', 'submit', 'placed.jdf'], t.context.folder)).err,
    /placed\.jdf:2:24: found "2", expected a number in 0\.\.1 or "adaptive" behind "min-ct:"/,
  );
});

test('a broker that is just restarting gets the same submission again, under the same key', async (t) => {
  const keys: string[] = [];
  const submitJob = ({ clientJobId }: SubmitJobRequest) => {
    keys.push(clientJobId);
    return keys.length < 3
      ? Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'away'))
      : Promise.resolve({ jobId: 1, taskCount: 1, warnings: [] });
  };
  t.is((await runCommandLine(['job', 'submit', '-q', '--', 'true'], { broker: { submitJob } })).out, '1\n');
  t.is(new Set(keys).size, 1);
  t.not(keys[0], '');
});

test('--wait waits, and its exit status shows how the job ended', async (t) => {
  const endings = [
    ['FINISHED', 0, {}],
    ['FAILED', 1, { failedCount: 2, finishedCount: 8 }],
    ['CANCELLED', 4, { cancelledCount: 10, finishedCount: 0 }],
  ] as const;
  for (const [name, expected, counts] of endings) {
    const broker = {
      submitJob: () => Promise.resolve({ jobId: 1, taskCount: 10, warnings: [] }),
      getJob: () => Promise.resolve({ job: aJobSummary({ status: JobStatus[name], ...counts }), spec: undefined }),
      async *watchJob() {
        /* nothing comes */
      },
    };
    const { status, out } = await runCommandLine(['job', 'submit', '--wait', '--', 'true'], { broker });
    t.is(status, expected);
    t.regex(out, new RegExp(`^Job 1 ${name.toLowerCase()} after 13s, tasks 10: `));
  }
});

test('each way to verify results is understood', async (t) => {
  const by = async (how: string) =>
    (await submitted(['job', 'submit', '--verify', how, '--', 'x'])).job?.verification?.by;
  t.deepEqual(await by('none'), { $case: 'none', value: {} });
  t.deepEqual(await by('check'), { $case: 'check', value: {} });
  for (const count of [1, 2, 3, 15]) t.deepEqual(await by(`vote:${count}`), { $case: 'vote', value: count });
  t.deepEqual(await by('credibility:0.9'), { $case: 'credibility', value: 0.9 });
  t.deepEqual(await by('credibility:.99'), { $case: 'credibility', value: 0.99 });
  t.is(
    await by('none')
      .then(() => submitted(['job', 'submit', '--', 'x']))
      .then(({ job }) => job?.verification),
    undefined,
  );
});

for (const how of [
  'vote:0',
  'vote:16',
  'vote:1.5',
  'vote:-1',
  'vote:',
  'vote',
  'vote:three',
  'credibility:0',
  'credibility:1',
  'credibility:1.5',
  'credibility:0.0',
  'credibility:-0.5',
  'credibility:',
  'credibility:nan',
  'credibility:1e-1',
  'majority',
  'Vote:3',
  ' vote:3',
  'vote:3 ',
  '',
  'none:1',
  'check:2',
]) {
  test(`--verify ${JSON.stringify(how)} is refused with what is wanted, before anything is sent`, async (t) => {
    const { status, err, job } = await submitted(['job', 'submit', '--verify', how, '--', 'x']);
    t.is(status, 2);
    t.is(
      err.split('\n')[0],
      `error: MUT_BAD_REQUEST --verify is "${how}"; expected none, check, vote:K with K in 1..15, or credibility:Q ` +
        'with Q above 0 and below 1',
    );
    t.is(job, undefined);
  });
}

test('outputs are gathered in a folder that starts from the current one, also those of a job file', async (t) => {
  const file = join(t.context.folder, 'a.jdf');
  writeFileSync(file, 'job:\nlabel: a\ntask:\nremote: true > out\nfinal: get out results\n');
  t.deepEqual(
    (
      await submitted([
        'job',
        'submit',
        '--array',
        '1-2',
        '--get',
        'out:results/{}',
        '--archive-outputs',
        'all',
        '--',
        'x {}',
      ])
    ).job?.gathering,
    { folder: '/project/all' },
  );
  t.deepEqual((await submitted(['job', 'submit', '--archive-outputs', 'all', file])).job?.gathering, {
    folder: '/project/all',
  });
  t.is(
    (await submitted(['job', 'submit', '--array', '1-2', '--get', 'out:results/{}', '--', 'x {}'])).job?.gathering,
    undefined,
  );
  const { status, err } = await submitted(['job', 'submit', '--archive-outputs', '', '--', 'x']);
  t.deepEqual([status, /--archive-outputs is empty; expected a folder/.test(err)], [2, true]);
});

test('a workflow without a name is called as its file', async (t) => {
  const called = async (text: string, ...more: readonly string[]): Promise<string | undefined> => {
    writeFileSync(join(t.context.folder, 'blur.yaml'), text);
    return (await submitted(['job', 'submit', 'blur.yaml', ...more], t.context.folder)).job?.label;
  };
  t.is(await called('tasks:\n  a: {command: x}\n'), 'blur');
  t.is(await called('tasks:\n  a: {command: x}\n', '--label', 'mine'), 'mine');
  t.is(await called('name: photos\ntasks:\n  a: {command: x}\n'), 'photos');
});

test('what of the requirements holds on no known machine is said when the job is submitted, and is in the JSON', async (t) => {
  const submitJob = () =>
    Promise.resolve({
      jobId: 1,
      taskCount: 1,
      warnings: [
        { code: '', parameters: {}, text: 'no known machine states "cpus"' },
        { code: '', parameters: {}, text: 'and so on' },
      ],
    });
  const plain = await runCommandLine(['job', 'submit', '--requirements', 'cpus > 2', '--', 'true'], {
    broker: { submitJob },
  });
  t.deepEqual([plain.status, plain.err], [0, 'warning: no known machine states "cpus"\nwarning: and so on\n']);
  const { out } = await runCommandLine(['job', 'submit', '--json', '--', 'true'], { broker: { submitJob } });
  t.deepEqual((JSON.parse(out) as { warnings: unknown }).warnings, [
    { code: '', parameters: {}, text: 'no known machine states "cpus"' },
    { code: '', parameters: {}, text: 'and so on' },
  ]);
});
