import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { drawScenario, readScenario, type Scenario } from '@mutirao/sim';
import { runCommandLine, temporaryFolder, type CommandResult, type FakeGrid } from '@mutirao/testkit';
import { shapes } from '../../../src/json/shapes.ts';

/**
 * The only machine crashes again and again for an hour, and the task takes as long as all of the time that there is.
 */
const hopeless: Scenario = {
  version: 1,
  seed: '5',
  stormDuration: 3_600_000,
  turnDelayMax: 1,
  network: { delayMax: 5, lossProbability: 0.1, duplicateProbability: 0 },
  jobs: [
    {
      submittedAfter: 0,
      taskCount: 1,
      meanTaskTime: 48.5 * 3_600_000,
      spread: 0,
      replicasMax: 1,
      failuresMax: 1,
      brokenTaskCount: 0,
      failureProbability: 0,
      inputCount: 0,
      hasOutput: false,
      isChecked: false,
    },
    {
      submittedAfter: 5000,
      taskCount: 3,
      meanTaskTime: 1000,
      spread: 0,
      replicasMax: 1,
      failuresMax: 1,
      brokenTaskCount: 0,
      failureProbability: 0,
      inputCount: 0,
      hasOutput: false,
      isChecked: false,
    },
  ],
  clusters: [],
  labs: [{ machines: [{ processors: 1, speed: 1, isLiar: false }], downTime: 1000 }],
  faults: {
    crashesPerHour: 60,
    fallsPerHour: 0,
    pausesPerHour: 0,
    pauseMax: 0,
    cutsPerHour: 0,
    cutMax: 0,
    breaksPerHour: 20,
    fullDisksPerHour: 0,
    skewMax: 0,
  },
};

/** Over in a minute, in which nothing goes wrong: what a swarm does with worlds can be seen by any. */
const calm: Scenario = {
  ...hopeless,
  stormDuration: 60_000,
  network: { delayMax: 5, lossProbability: 0, duplicateProbability: 0 },
  jobs: hopeless.jobs.slice(1),
  faults: { ...hopeless.faults, crashesPerHour: 0, breaksPerHour: 0 },
};

function folderWith(t: ExecutionContext, files: Readonly<Record<string, unknown>>): string {
  const directory = temporaryFolder(t);
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
  return directory;
}

function swarm(directory: string, words: readonly string[], grid: FakeGrid = {}): Promise<CommandResult> {
  return runCommandLine(['sim', 'swarm', ...words], { directory, ...grid });
}

test('a swarm that passes says so last and exits with 0', async (t) => {
  const { status, out } = await swarm(temporaryFolder(t), ['--seeds', '3', '--workers', '1']);
  t.is(status, 0);
  t.regex(out, /^seeds 0\.\.2: .* simulated in .*; .* worlds\/s, \d+ grid-hours\/min\n3 passed, 0 failed\n$/);
});

test('the workers make no difference', async (t) => {
  const documents = await Promise.all(
    ['1', '2'].map(async (workers) => {
      const { out } = await swarm(temporaryFolder(t), ['--seeds', '6', '--from', '7', '--workers', workers, '--json']);
      return JSON.parse(out) as Record<string, unknown>;
    }),
  );
  t.like(documents[0], {
    seed_from: 7,
    world_count: 6,
    passed_count: 6,
    failed_count: 0,
    scenario: null,
    failures: [],
    interrupted: false,
  });
  t.true(Number(documents[0]?.['turn_count']) > 1000);
  t.deepEqual(documents[0], documents[1]);
  t.deepEqual(Object.keys(documents[0] ?? {}), Object.keys(shapes.swarm));
});

test('a world that fails is reported with its command line, its smallest scenario and its story', async (t) => {
  const directory = folderWith(t, { 'hopeless.json': hopeless });
  const { status, out } = await swarm(directory, ['--scenario', 'hopeless.json', '--shrink', '12', '--out', 'small']);
  t.is(status, 1);
  t.regex(
    out,
    /^seed 5 failed 2d01h after its start, when all was mended: not at its end: .*job 1 is open with 0 of 1 finished/,
  );
  t.regex(
    out,
    /\n {2}again {5}mutirao sim swarm --scenario hopeless\.json\n {2}smallest {2}mutirao sim swarm --scenario small\/swarm-5\.json\n/,
  );
  t.regex(
    out,
    /\n {2}keep it {3}\(echo '# what it found'; cat small\/swarm-5\.json\) >> packages\/sim\/test\/regressions\.txt\n/,
  );
  t.regex(out, /\n {2}story of j1, in the smallest world, in seconds since its start:\n/);
  t.regex(out, /\n +\+\d+\.\d{3} broker #\d+ -> StartReplicas .*jobId=j1/);
  t.regex(out, /\n +\+1800\.000 \*\* WorldMended\n/);
  t.regex(out, /\n0 passed, 1 failed\n$/);
  const text = readFileSync(join(directory, 'small', 'swarm-5.json'), 'utf8');
  const smallest = readScenario(JSON.parse(text));
  t.is(smallest.jobs.length, 1);
  t.is(text.indexOf('\n'), text.length - 1);
  const again = await swarm(directory, ['--scenario', 'small/swarm-5.json', '--shrink', '0']);
  t.is(again.status, 1);
  t.regex(again.out, /job 1 is open with 0 of 1 finished/);
});

test('a scenario runs with other seeds if these are given, and the first few of many failures are printed', async (t) => {
  const directory = folderWith(t, { 'hopeless.json': hopeless });
  const { status, out, err } = await swarm(directory, [
    '--scenario',
    'hopeless.json',
    '--seeds',
    '4',
    '--from',
    '8',
    '--shrink',
    '1',
    '--workers',
    '2',
    '--json',
  ]);
  const document = JSON.parse(out) as {
    readonly failed_seeds: readonly string[];
    readonly failures: readonly Record<string, unknown>[];
  };
  t.is(status, 1);
  t.deepEqual(document.failed_seeds, ['8', '9', '10', '11']);
  t.deepEqual(
    document.failures.map(({ seed, command }) => [seed, command]),
    ['8', '9', '10'].map((seed) => [seed, `mutirao sim swarm --scenario hopeless.json --seeds 1 --from ${seed}`]),
  );
  t.deepEqual(Object.keys(document.failures[0] ?? {}), Object.keys(shapes.swarm_failure));
  t.is((JSON.parse(readFileSync(join(directory, 'swarm-9.json'), 'utf8')) as Scenario).seed.split('.')[0], '9');
  t.regex(err, /making 3 failing worlds smaller/);
  const table = await swarm(directory, ['--scenario', 'hopeless.json', '--seeds', '4', '--from', '8', '--shrink', '0']);
  t.regex(table.out, /further failures, by seed: 11\n/);
  t.regex(table.out, /\n +\+\d+\.\d{3} \*\* ProcessCrashed /);
  t.is((await swarm(directory, ['--scenario', 'hopeless.json', '--seeds', '2', '--shrink', '0', '-q'])).out, '0\n1\n');
});

test('the trace of a world has a line per turn and is the same each time', async (t) => {
  const directory = folderWith(t, { 'calm.json': drawScenario('0') });
  for (const name of ['one', 'two'])
    t.is((await swarm(directory, ['--scenario', 'calm.json', '--trace', name])).status, 0);
  t.is((await swarm(directory, ['--seeds', '1', '--from', '0', '--trace', 'drawn'])).status, 0);
  t.is((await swarm(directory, ['--seeds', '1', '--from', '4', '--trace', 'other'])).status, 0);
  const [one, two, drawn, other] = ['one', 'two', 'drawn', 'other'].map((name) =>
    readFileSync(join(directory, name), 'utf8'),
  );
  t.regex(one ?? '', /^\d+ [\w /.-]+ \[.*\] \[.*\] \[.*\]\n/);
  t.true((one ?? '').split('\n').length > 100);
  t.deepEqual([two, drawn], [one, one]);
  t.not(other, one);
});

test('an interrupted swarm says how far it got and exits with 4', async (t) => {
  const interrupt = new AbortController();
  let now = 0;
  const { status, out, err } = await swarm(
    folderWith(t, { 'calm.json': calm }),
    ['--scenario', 'calm.json', '--seeds', '5000', '--workers', '1'],
    {
      signal: interrupt.signal,
      // The clock is read when worlds are done, the first time before any is.
      now: () => {
        now += 1;
        if (now === 6) interrupt.abort();
        return now;
      },
    },
  );
  t.is(status, 4);
  const [, count = ''] = /interrupted after (\d+) of 5000 worlds/.exec(err) ?? [];
  t.true(Number(count) > 0 && Number(count) < 100, count);
  t.regex(out, new RegExp(`\n${count} passed, 0 failed\n$`));
});

test('progress shows what is done, failed and to come now and then', async (t) => {
  let now = 0;
  const { err } = await swarm(
    folderWith(t, { 'calm.json': calm }),
    ['--scenario', 'calm.json', '--seeds', '20', '--workers', '1'],
    { now: () => (now += 11_000) },
  );
  t.regex(err, /^10\/20 worlds, 0 failed {2}[\d.]+ worlds\/s, \d+ grid-hours\/min, about .* left\n20\/20 worlds, /);
});

const refused: readonly (readonly [words: readonly string[], message: RegExp])[] = [
  [[], /there is no world to run; expected --seeds, --scenario or both/],
  [['--seeds', '0'], /--seeds is "0"; expected a whole number in 1\.\./],
  [['--seeds', 'many'], /--seeds is "many"/],
  [['--seeds', '1', '--from', '-1'], /--from is "-1"/],
  [['--from', '7', '--scenario', 'calm.json'], /--from is "7" and there is no --seeds; expected both/],
  [['--seeds', '1', '--workers', '0'], /--workers is "0"/],
  [['--seeds', '1', '--shrink', 'x'], /--shrink is "x"/],
  [['--seeds', '2', '--trace', 'trace'], /--trace is of one world and --seeds is 2; expected --seeds 1/],
  [['--seeds', '1', '--trace', 'calm.json/trace'], /cannot write .*calm\.json\/trace/],
  [['--seeds', '1', '--out', 'calm.json/out'], /cannot use .*calm\.json\/out for scenarios/],
  [['--scenario', 'none.json'], /MUT_FILE_NOT_FOUND there is no file none\.json/],
  [['--scenario', 'folder'], /cannot read folder/],
  [['--scenario', 'half.json'], /half\.json is not JSON/],
  [['--scenario', 'other.json'], /other\.json: version is 2; expected 1/],
  [['--scenario', 'nothing.json'], /nothing\.json: jobs has 0 elements; expected 1 to 100/],
];

for (const [words, message] of refused) {
  test(`sim swarm ${words.join(' ')} is refused`, async (t) => {
    const calm = drawScenario('0');
    const directory = folderWith(t, {
      'calm.json': calm,
      'half.json': '{"version":',
      'other.json': { ...calm, version: 2 },
      'nothing.json': { ...calm, jobs: [] },
    });
    mkdirSync(join(directory, 'folder'));
    const { status, out, err } = await swarm(directory, words);
    t.is(status, 2, err);
    t.is(out, '');
    t.regex(err, message);
    t.false(existsSync(join(directory, 'swarm-0.json')));
  });
}

test('lines of a log of failures that are not events are counted', async (t) => {
  const directory = temporaryFolder(t);
  writeFileSync(join(directory, 'log.tab'), '0 0 655 3 10.0 0 1000 1100 NULL\n1 0 655 3\n2 0 655 3 10.0 5 1 2 NULL\n');
  const { status, err } = await swarm(directory, ['--seeds', '1', '--workers', '1', '--failures', 'log.tab']);
  t.is(status, 0);
  t.regex(err, /^log\.tab: 2 lines that are no event were left out$/m);
});
