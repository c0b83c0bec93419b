// The first requests of a demand whose task times nobody knows: few and short, and more as tasks end or outlast them.
import test from 'ava';
import { firstRequestLimits, type ProviderChange, type ProviderConfig } from '@mutirao/core/machines/provider';
import { readQueue } from '@mutirao/core/requests';
import { ProviderHarness, WatchingHeuristic } from '@mutirao/testkit';

const minute = 60_000;
const hour = 60 * minute;

/** A cluster of 4 processors that gives ten requests of up to a day. */
function openHarness(config: Partial<ProviderConfig> = {}): ProviderHarness {
  const harness = new ProviderHarness({ heuristic: 'finish', firstRequests: firstRequestLimits, ...config });
  harness.perform(['start', 'connect b', `limits requests=10 width=4 walltime=${24 * hour}`]);
  harness.perform(['listing']);
  return harness;
}

/** Width and walltime in hours of what was asked for. */
function getAsked({ journal }: ProviderHarness): string[] {
  return listDrafts(journal).map(({ width, walltime }) => `${width}x${walltime / hour}`);
}

function listDrafts(journal: readonly ProviderChange[]): Extract<ProviderChange, { kind: 'RequestDrafted' }>[] {
  return journal.filter((change) => change.kind === 'RequestDrafted');
}

test('200 tasks of unknown run time make one request that fills a free cluster and one that waits, of an hour each, and both say why', (t) => {
  const harness = openHarness();
  harness.perform(['demand b 200']);
  t.deepEqual(getAsked(harness), ['4x1', '4x1']);
  for (const { reasons } of listDrafts(harness.journal))
    t.deepEqual(reasons[0], {
      code: 'first-request',
      processors: 4,
      walltimeMs: hour,
      isFirst: true,
      statedMs: 0,
      outlastedMs: 0,
    });
  t.deepEqual(harness.state.resourceStatus[0], {
    code: 'first-requests-bounded',
    walltimeMsMax: hour,
    unusedSlots: 8,
    waitsForRequests: false,
    statedMs: 0,
    outlastedMs: 0,
  });
});

test('without bounds on first requests the same tasks ask for a week of the whole cluster at least', (t) => {
  const harness = new ProviderHarness({ heuristic: 'finish' });
  harness.perform(['start', 'connect b', `limits requests=10 width=4 walltime=${24 * hour}`]);
  harness.perform(['listing', 'demand b 200']);
  t.true(getAsked(harness).length >= 7);
  t.true(getAsked(harness).every((asked) => asked === '4x24'));
});

for (const heuristic of ['initial', 'adaptive'] as const) {
  test(`${heuristic} keeps its first requests as few and as short`, (t) => {
    const harness = openHarness({ heuristic });
    harness.perform(['demand b 200 unplaced=200']);
    t.is(getAsked(harness).length, 2);
    t.true(
      listDrafts(harness.journal).every(
        ({ walltime, reasons }) =>
          walltime <= hour && reasons[0]?.code === 'first-request' && reasons[0].processors === 4,
      ),
    );
    harness.perform(['accepted q1', 'accepted q2', 'at 1000', 'listing q1=running@900 q2=queued']);
    t.is(getAsked(harness).length, 2);
    t.like(harness.state.resourceStatus[0], {
      code: 'first-requests-bounded',
      unusedSlots: 8,
      waitsForRequests: true,
    });
  });
}

for (const [heuristic, asked] of [
  ['static', 10],
  ['mixed', 10],
] as const) {
  test(`${heuristic}, which is meant for long tasks, asks as ever`, (t) => {
    const harness = openHarness({ heuristic });
    harness.perform(['demand b 200']);
    t.is(getAsked(harness).length, asked);
    t.true(getAsked(harness).includes('4x24'));
  });
}

test('a free cluster is used in full at once, however many requests that takes', (t) => {
  const heuristic = new WatchingHeuristic();
  const harness = new ProviderHarness({
    heuristic: 'watching',
    findHeuristic: heuristic.find,
    firstRequests: firstRequestLimits,
  });
  harness.step([
    { kind: 'ProviderStarted', instance: 'i' },
    {
      kind: 'LimitsRead',
      limits: { processors: 20, requestsMax: 10, widthMax: 4, walltimeMax: 24 * hour, walltimeGranularity: minute },
    },
  ]);
  harness.perform(['connect b', 'listing free=18', 'demand b 200']);
  t.deepEqual(getAsked(harness), Array<string>(6).fill('4x1'));
});

test('once a task has ended, here or elsewhere, requests are as usual', (t) => {
  const heuristic = new WatchingHeuristic();
  const harness = openHarness({ heuristic: 'watching', findHeuristic: heuristic.find });
  harness.perform(['demand b 200']);
  harness.perform(['accepted q1', 'accepted q2', 'at 1000', 'listing q1=running@900 q2=queued', 'attach q1.0']);
  t.is(heuristic.asked.at(-1)?.limits.requestsMax, 2);
  harness.perform([`measured q1 longest=${2 * hour} total=${2 * hour} count=1`]);
  t.deepEqual(getAsked(harness), ['4x1', '4x1', ...Array<string>(8).fill('4x6')]);
  t.not(listDrafts(harness.journal).at(-1)?.reasons[0]?.code, 'first-request');
  const elsewhere = openHarness();
  elsewhere.perform([`demand b 200 elsewhere=${hour}`]);
  t.not(elsewhere.state.resourceStatus[0]?.code, 'first-requests-bounded');
});

test('a request that held its processors to its end and completed nothing doubles walltimes and the number that may wait', (t) => {
  const heuristic = new WatchingHeuristic();
  const harness = openHarness({ heuristic: 'watching', findHeuristic: heuristic.find });
  harness.perform(['demand b 200']);
  harness.perform(['accepted q1', 'accepted q2', 'at 1000', 'listing q1=running@900 q2=queued', 'attach q1.0']);
  // The manager ended it a little early.
  harness.perform([`at ${0.97 * hour}`, `listing free=4 q1=ended@${0.97 * hour} q2=queued`]);
  t.deepEqual(getAsked(harness), ['4x1', '4x1', '4x2', '4x2']);
  const [reason] = listDrafts(harness.journal).at(-1)?.reasons ?? [];
  t.like(reason, { code: 'first-request', processors: 4, walltimeMs: 2 * hour, isFirst: false });
  t.true(reason?.code === 'first-request' && Math.floor(reason.outlastedMs / minute) === 58);
});

test('tasks that have run for longer than half of the walltime make the next requests longer before they are cut', (t) => {
  const heuristic = new WatchingHeuristic();
  const harness = openHarness({ heuristic: 'watching', findHeuristic: heuristic.find });
  harness.perform(['demand b 200']);
  harness.perform([
    'accepted q1',
    'accepted q2',
    'at 1000',
    'listing q1=running@900 q2=queued',
    'attach q1.0',
    'seen q1.0=1000',
  ]);
  harness.perform([`at ${40 * minute}`, 'listing q1=running@900 q2=queued']);
  t.deepEqual(getAsked(harness), ['4x1', '4x1', '4x2']);
});

test('a request that went back early says nothing of how long tasks run', (t) => {
  const heuristic = new WatchingHeuristic();
  const harness = openHarness({ heuristic: 'watching', findHeuristic: heuristic.find });
  harness.perform(['demand b 200']);
  harness.perform(['accepted q1', 'accepted q2', 'at 1000', 'listing q1=running@900 q2=queued', 'attach q1.0']);
  harness.perform([`at ${30 * minute}`, `listing free=4 q1=ended@${30 * minute} q2=queued`]);
  t.deepEqual(getAsked(harness), ['4x1', '4x1', '4x1']);
});

test('a run time that the user states is never cut into, with a quarter to spare for the start', (t) => {
  const heuristic = new WatchingHeuristic();
  const harness = openHarness({ heuristic: 'watching', findHeuristic: heuristic.find });
  harness.perform([`demand b 200 stated=${4 * hour}`]);
  t.deepEqual(getAsked(harness), ['4x5', '4x5']);
  t.like(listDrafts(harness.journal)[0]?.reasons[0], {
    code: 'first-request',
    walltimeMs: 5 * hour,
    statedMs: 4 * hour,
  });
  const long = openHarness({ heuristic: 'watching', findHeuristic: new WatchingHeuristic().find });
  long.perform([`demand b 200 stated=${23 * hour}`]);
  t.deepEqual(getAsked(long), ['4x24', '4x24']);
});

test('a longer run time that is stated later makes it decide again', (t) => {
  const heuristic = new WatchingHeuristic();
  const harness = openHarness({ heuristic: 'watching', findHeuristic: heuristic.find });
  harness.perform(['demand b 200']);
  const before = heuristic.asked.length;
  harness.perform(['at 5000', `demand b 200 stated=${4 * hour}`]);
  t.is(heuristic.asked.length, before + 1);
  t.is(heuristic.asked.at(-1)?.limits.walltimeMax, 5 * hour);
});

test('a resource that gives less than the first walltime is asked for what it gives', (t) => {
  const heuristic = new WatchingHeuristic();
  const harness = new ProviderHarness({
    heuristic: 'watching',
    findHeuristic: heuristic.find,
    firstRequests: firstRequestLimits,
  });
  harness.perform(['start', 'connect b', `limits requests=3 width=4 walltime=${5 * minute}`]);
  harness.perform(['listing', 'demand b 200']);
  t.deepEqual(
    listDrafts(harness.journal).map(({ walltime }) => walltime),
    [5 * minute, 5 * minute],
  );
});

test('processors that no listed request holds are taken to be held for the longest walltime, however short first requests are', (t) => {
  const heuristic = new WatchingHeuristic();
  const harness = openHarness({ heuristic: 'watching', findHeuristic: heuristic.find });
  harness.perform(['listing free=0', 'demand b 200']);
  const facts = heuristic.asked.at(-1);
  t.is(facts?.limits.walltimeMax, hour);
  t.true(facts !== undefined && readQueue(facts).free.end >= 24 * hour);
});
