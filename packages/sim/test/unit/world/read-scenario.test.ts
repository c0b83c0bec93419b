import test from 'ava';
import { drawScenario, readScenario, type Scenario } from '../../../src/index.ts';

/** A lab with a machine, and a job for it. */
const lab: Scenario = {
  version: 1,
  seed: '7',
  stormDuration: 600_000,
  turnDelayMax: 0,
  network: { delayMax: 5, lossProbability: 0, duplicateProbability: 0 },
  jobs: [
    {
      submittedAfter: 0,
      taskCount: 3,
      meanTaskTime: 2000,
      spread: 0.5,
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
    crashesPerHour: 0,
    fallsPerHour: 0,
    pausesPerHour: 0,
    pauseMax: 0,
    cutsPerHour: 0,
    cutMax: 0,
    breaksPerHour: 0,
    fullDisksPerHour: 0,
    skewMax: 0,
  },
};

const honest = { listingFails: 0, listingLags: 0, listingLies: 0, startsLate: 0, startsNothing: 0, startsTwice: 0 };
const cluster: Scenario['clusters'][number] = {
  processors: 4,
  requestsMax: 1,
  widthMax: 4,
  walltimeMax: 600_000,
  compression: 'start-now',
  heuristic: 'adaptive',
  localPerHour: 0,
  speedSpread: 0.5,
  faults: honest,
};

test('every scenario that is drawn can be written and read again', (t) => {
  for (let seed = 0; seed < 3000; seed += 1) {
    const scenario = drawScenario(String(seed));
    t.deepEqual(readScenario(JSON.parse(JSON.stringify(scenario))), scenario, `seed ${seed}`);
  }
});

const asLab = (changes: Readonly<Record<string, unknown>>): unknown => ({ ...lab, ...changes });
const withJob = (changes: object): unknown => asLab({ jobs: [{ ...lab.jobs[0], ...changes }] });
const withCluster = (changes: object): unknown => asLab({ labs: [], clusters: [{ ...cluster, ...changes }] });
const withMachine = (changes: object): unknown =>
  asLab({ labs: [{ downTime: 0, machines: [{ processors: 1, speed: 1, isLiar: false, ...changes }] }] });
const machine = { processors: 1, speed: 1, isLiar: false };

const refused: readonly (readonly [what: string, document: unknown, message: RegExp])[] = [
  ['a file of another version', { ...lab, version: 2, colour: 'red' }, /^version is 2; expected 1, the only one/],
  ['a file without a version', asLab({ version: undefined }), /^version is nothing; expected 1$/],
  ['what is no object', [lab], /^the scenario is \[.*; expected an object$/],
  ['nothing at all', null, /^the scenario is null; expected an object$/],
  [
    'a field that is not known',
    withJob({ colour: 'red' }),
    /^jobs\[0\]\.colour is not a field; expected only submittedAfter, taskCount/,
  ],
  [
    'a field that is missing',
    asLab({ network: { delayMax: 1, lossProbability: 0 } }),
    /^network\.duplicateProbability is missing; expected a number from 0 to less than 1$/,
  ],
  ['a wrong type', withJob({ taskCount: '3' }), /^jobs\[0\]\.taskCount is "3"; expected a whole number in 1\.\.10000$/],
  [
    'a flag that is none',
    withMachine({ isLiar: 0 }),
    /^labs\[0\]\.machines\[0\]\.isLiar is 0; expected true or false$/,
  ],
  ['half a task', withJob({ taskCount: 1.5 }), /taskCount is 1\.5/],
  ['no jobs', asLab({ jobs: [] }), /^jobs has 0 elements; expected 1 to 100$/],
  [
    'a job without tasks',
    withJob({ taskCount: 0 }),
    /^jobs\[0\]\.taskCount is 0; expected a whole number in 1\.\.10000$/,
  ],
  [
    'a million tasks',
    withJob({ taskCount: 1_000_000 }),
    /^jobs\[0\]\.taskCount is 1000000; expected a whole number in 1\.\.10000$/,
  ],
  [
    'a million tasks in many jobs',
    asLab({ jobs: Array.from({ length: 100 }, () => ({ ...lab.jobs[0], taskCount: 10_000 })) }),
    /^jobs have 1000000 tasks in all; expected at most 10000$/,
  ],
  [
    'a million machines',
    asLab({ labs: [{ downTime: 0, machines: Array.from({ length: 1_000_000 }, () => machine) }] }),
    /^labs\[0\]\.machines has 1000000 elements; expected 1 to 1000$/,
  ],
  [
    'a million processors',
    withCluster({ processors: 1_000_000 }),
    /^clusters\[0\]\.processors is 1000000; expected a whole number in 1\.\.1000$/,
  ],
  [
    'many machines in many labs',
    asLab({
      labs: Array.from({ length: 20 }, () => ({ downTime: 0, machines: Array.from({ length: 100 }, () => machine) })),
    }),
    /^clusters and labs have 2000 processors in all; expected at most 1000$/,
  ],
  ['no machine', asLab({ labs: [] }), /^clusters and labs are empty; expected a machine at least/],
  [
    'machines of speed 0',
    withMachine({ speed: 0 }),
    /^labs\[0\]\.machines\[0\]\.speed is 0; expected a number in 0\.01\.\.100$/,
  ],
  [
    'nodes of speed 0',
    withCluster({ speedSpread: 1 }),
    /^clusters\[0\]\.speedSpread is 1; expected a number from 0 to less than 1$/,
  ],
  [
    'a heuristic that does not exist',
    withCluster({ heuristic: 'magic' }),
    /^clusters\[0\]\.heuristic is "magic"; expected one of static, initial, adaptive, mixed, finish, auto$/,
  ],
  [
    'requests wider than the cluster',
    withCluster({ widthMax: 5 }),
    /^clusters\[0\]\.widthMax is 5; expected at most its 4 processors$/,
  ],
  [
    'more broken tasks than tasks',
    withJob({ brokenTaskCount: 4 }),
    /^jobs\[0\]\.brokenTaskCount is 4; expected at most its 3 tasks$/,
  ],
  [
    'a storm without end',
    asLab({ stormDuration: Infinity }),
    /^stormDuration is Infinity; expected a whole number in 0\.\.604800000$/,
  ],
  [
    'a network that loses all',
    asLab({ network: { delayMax: 1, lossProbability: 1, duplicateProbability: 0 } }),
    /^network\.lossProbability is 1; expected a number from 0 to less than 1$/,
  ],
  [
    'a network on which no greeting is answered in time',
    asLab({ network: { delayMax: 20_000, lossProbability: 0, duplicateProbability: 0 } }),
    /^network\.delayMax is 20000; expected .*2000$/,
  ],
  [
    'tasks longer than any walltime',
    asLab({ labs: [], clusters: [cluster], jobs: [{ ...lab.jobs[0], meanTaskTime: 500_000 }] }),
    /^jobs\[0\]\.meanTaskTime is 500000, so that tasks take up to 750000; expected at most 285000, .* or a lab$/,
  ],
  [
    'more work than two days hold',
    withJob({ taskCount: 1000, meanTaskTime: 3_600_000 }),
    /^jobs take 500 h of all machines; expected at most 49 h/,
  ],
  [
    'local users who hold the cluster for weeks',
    withCluster({ localPerHour: 10_000 }),
    /^clusters\[0\]\.localPerHour is 10000; expected less: .* for 44 h and .* is 36 h$/,
  ],
  [
    'requests of local users that hold the cluster for weeks',
    withCluster({ local: [{ after: 0, width: 4, walltime: 604_800_000, runTime: 604_800_000 }] }),
    /^clusters\[0\]\.local hold the whole cluster for 168 h; expected at most 36 h/,
  ],
  [
    'a local user who wants nothing',
    withCluster({ local: [{ after: 0, width: 0, walltime: 1000, runTime: 0 }] }),
    /^clusters\[0\]\.local\[0\]\.width is 0; expected a whole number in 1/,
  ],
  [
    'a job that comes after the end',
    asLab({ jobs: [{ ...lab.jobs[0], submittedAfter: 90_000_000 }] }),
    /^jobs\[0\]\.submittedAfter is 90000000; expected at most 87000000/,
  ],
  [
    'a second spec that comes after the end',
    withJob({ retriedAfter: 90_000_000 }),
    /^jobs\[0\]\.retriedAfter is 90000000; expected at most 87000000/,
  ],
  [
    'machines that can do nothing for a task',
    asLab({ choreFailureProbability: 1 }),
    /^choreFailureProbability is 1; expected a number from 0 to less than 1$/,
  ],
  [
    'a cancellation that comes after the end',
    withJob({ cancelledAfter: 90_000_000 }),
    /^jobs\[0\]\.cancelledAfter is 90000000; expected at most 87000000/,
  ],
];

for (const [what, document, message] of refused) {
  test(`${what} is refused`, (t) => {
    const error = t.throws(() => readScenario(document), { name: 'ScenarioError' });
    t.regex(error.message, message);
  });
}

test('long tasks are fine where there is a lab', (t) => {
  t.notThrows(() => readScenario(asLab({ clusters: [cluster], jobs: [{ ...lab.jobs[0], meanTaskTime: 500_000 }] })));
});

test('local users and the hints of a manager may be given, and are left out where they are not', (t) => {
  const given = { local: [{ after: 5000, width: 4, walltime: 60_000, runTime: 59_999 }], isWatched: true };
  t.like(readScenario(withCluster(given)).clusters[0], given);
  t.deepEqual(readScenario(withCluster({})).clusters[0], cluster);
});
