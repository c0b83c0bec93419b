import test from 'ava';
import {
  takeSnapshot,
  measureInterval,
  restoreSnapshot,
  type ProviderConfig,
  type ProviderSnapshot,
} from '@mutirao/core/machines/provider';
import { ProviderHarness, WatchingHeuristic } from '@mutirao/testkit';

function aHarness(config: Partial<ProviderConfig> = {}): {
  readonly harness: ProviderHarness;
  readonly heuristic: WatchingHeuristic;
} {
  const heuristic = new WatchingHeuristic();
  const harness = new ProviderHarness({ heuristic: 'watching', findHeuristic: heuristic.find, ...config });
  harness.perform(['start', 'connect b', 'limits requests=2 width=8 walltime=100000']);
  return { harness, heuristic };
}

test('the one request that a waiting gang fits into is kept, even if the heuristic gives it up', (t) => {
  const { harness } = aHarness();
  harness.perform(['listing l=running@1/8x90000', 'demand b 20']);
  harness.perform(['accepted q1', 'accepted q2', 'measured q1 longest=10 total=10 count=1']);
  t.deepEqual(
    [...harness.state.requests.values()].map(({ releaseReason }) => releaseReason !== undefined),
    [true, true],
  );
  const { harness: other } = aHarness();
  other.perform(['listing l=running@1/8x90000', 'demand b 20 gang=6']);
  other.perform(['accepted q1', 'accepted q2', 'measured q1 longest=10 total=10 count=1']);
  t.deepEqual(
    [...other.state.requests.values()].map(({ width, releaseReason }) => [width, releaseReason !== undefined]),
    [
      [6, false],
      [4, true],
    ],
  );
});

test('a running request without a task goes back after the idle time where none waits, and not while one does', (t) => {
  const { harness } = aHarness();
  harness.perform(['listing', 'demand b 20']);
  harness.perform(['accepted q1', 'accepted q2', 'at 10', 'attach q1.0', 'attach q2.0']);
  harness.perform(['at 20', 'seen q1.0=15']);
  t.notRegex(harness.perform(['at 20000']), /release/); // Nineteen tasks wait.
  harness.perform(['demand b 1']);
  t.notRegex(harness.perform(['at 29999']), /release/);
  t.regex(harness.perform(['at 30000']), /release q2/);
  t.deepEqual(harness.state.requests.get('q2')?.reasons.at(-1), { code: 'released-idle', idleMs: 10_000 });
  t.is(harness.state.requests.get('q1')?.releaseReason, undefined);
});

test('a request that gets a task again within the idle time stays', (t) => {
  const { harness } = aHarness();
  harness.perform(['listing', 'demand b 20']);
  harness.perform(['accepted q1', 'accepted q2', 'at 10', 'attach q1.0', 'attach q2.0']);
  harness.perform(['at 20', 'seen q1.0=15', 'demand b 1']);
  harness.perform(['at 9000', 'seen q2.0=9000']);
  harness.perform(['at 10000', 'seen q2.0=0']);
  t.notRegex(harness.perform(['at 19999']), /release/);
  t.regex(harness.perform(['at 20000']), /release q2/);
});

test('a request that was released before a task completed in it is remembered, also across a restart, and one that completed some is not', (t) => {
  const { harness, heuristic } = aHarness();
  harness.perform(['listing', 'demand b 20']);
  harness.perform(['accepted q1', 'accepted q2', 'at 10', 'attach q1.0', 'attach q2.0']);
  harness.perform(['at 20', 'seen q1.0=15', 'demand b 1']);
  harness.perform(['at 10020']);
  t.is(harness.state.requests.get('q2')?.releaseReason?.code, 'released-idle');
  harness.perform(['at 12000', 'listing q1=running@10 q2=ended@11000', 'demand b 9']);
  t.is(heuristic.asked.at(-1)?.unusedAt, 10_020);
  harness.state = restoreSnapshot(
    harness.config,
    JSON.parse(JSON.stringify(takeSnapshot(harness.state))) as ProviderSnapshot,
  );
  const { length } = heuristic.asked;
  harness.perform(['start', 'connect b', 'demand b 9']);
  harness.perform(['listing q1=running@10']);
  t.true(heuristic.asked.length > length);
  t.is(heuristic.asked.at(-1)?.unusedAt, 10_020);
  const { harness: other, heuristic: asked } = aHarness();
  other.perform(['listing', 'demand b 20']);
  other.perform([
    'accepted q1',
    'accepted q2',
    'at 10',
    'attach q1.0',
    'attach q2.0',
    'measured q2 longest=5 total=5 count=1',
  ]);
  other.perform(['at 20', 'seen q1.0=15', 'demand b 1']);
  other.perform(['at 10020']);
  other.perform(['at 12000', 'listing q1=running@10 q2=ended@11000', 'demand b 9']);
  t.true((other.state.requests.get('q2')?.endedAt ?? 0) > 0);
  t.deepEqual([asked.asked.at(-1)?.now, asked.asked.at(-1)?.unusedAt], [12_000, undefined]);
});

test('a restart from a snapshot keeps what was asked for lately, promised and cut off', (t) => {
  const { harness, heuristic } = aHarness();
  harness.perform(['listing l=running@1/8x90000', 'demand b 20']);
  harness.perform(['accepted q1', 'accepted q2']);
  harness.perform(['at 100', 'listing l=running@1/8x90000 q1=queued@90001 q2=queued@90001']);
  harness.perform(['at 200', 'listing q1=running@200 q2=queued@90001', 'attach q1.0']);
  harness.perform(['at 5000', 'seen q1.0=1000']);
  harness.perform(['at 6000', 'listing q1=ended@6000 q2=queued@90001']);
  const before = heuristic.asked.at(-1);
  harness.state = restoreSnapshot(
    harness.config,
    JSON.parse(JSON.stringify(takeSnapshot(harness.state))) as ProviderSnapshot,
  );
  harness.perform(['start', 'connect b', 'demand b 20']);
  harness.perform(['listing q2=queued@90001']);
  const after = heuristic.asked.at(-1);
  t.not(after, before);
  t.deepEqual(after?.cutOff, [{ count: 1, time: 5000 }]);
  t.deepEqual(after?.waits, [{ width: 4, walltime: 100_000, promised: 90_000, actual: 199 }]);
  t.deepEqual(after?.budget, { submissions: 57, withdrawals: 30 });
  t.is(after?.pending[0]?.promisedStart, 90_001);
});

test('a promise that first appears more than ten minutes after the submission does not count', (t) => {
  const promisedAfter = (wait: number): unknown => {
    const { harness, heuristic } = aHarness();
    harness.perform(['listing l=running@1/8x90000', 'demand b 20']);
    harness.perform(['accepted q1', 'accepted q2']);
    harness.perform([`at ${wait}`, `listing l=running@1/8x90000000 q1=queued@9000001 q2=queued@9000001`]);
    harness.perform([`at ${wait + 1000}`, `listing l=running@1/8x90000000 q1=queued@9000001 q2=queued@9000001`]);
    return heuristic.asked.at(-1)?.pending[0]?.promisedStart;
  };
  t.deepEqual([promisedAfter(600_001), promisedAfter(600_002)], [9_000_001, undefined]);
});

test('observations of one demand by a heuristic that watches are forgotten when the next begins', (t) => {
  const { harness, heuristic } = aHarness();
  harness.perform(['listing', 'demand b 20']);
  harness.perform(['accepted q1', 'accepted q2', 'at 10', 'attach q1.0', 'seen q1.0=10']);
  harness.perform(['at 5000', 'listing q1=ended@5000 q2=queued']);
  t.deepEqual(heuristic.asked.at(-1)?.cutOff, [{ count: 1, time: 4990 }]);
  harness.perform(['demand b 0']);
  harness.perform(['at 6000', 'demand b 5']);
  t.deepEqual(heuristic.asked.at(-1)?.cutOff, []);
  // What agents tell of how long tasks have run may be as old as that.
  t.is(heuristic.asked.at(-1)?.taskAgeError, measureInterval);
});

test('the review that a heuristic wanted comes at its time, whatever happens to others before and at that instant', (t) => {
  const { harness, heuristic } = aHarness();
  harness.perform(['listing l=running@1/4x90000 m=running@1/4x90000', 'demand b 20']);
  harness.perform(['accepted q1', 'accepted q2']);
  harness.perform(['at 30000', 'listing l=running@1/4x90000 m=running@1/2x90000 q1=queued@90001 q2=queued@90001']);
  harness.perform(['at 60001', 'listing l=running@1/4x90000 q1=queued@90001 q2=queued@90001']);
  // Asked for at 1, for 60 s later.
  t.deepEqual(
    heuristic.asked.map(({ now, trigger }) => [now, trigger]),
    [
      [1, 'own'],
      [30_000, 'queue'],
      [60_001, 'review'],
    ],
  );
  harness.perform(['at 90000', 'listing q1=queued@90001 q2=queued@90001']);
  harness.perform(['at 120001']);
  t.deepEqual(
    heuristic.asked.slice(3).map(({ now, trigger }) => [now, trigger]),
    [
      [90_000, 'queue'],
      [120_001, 'review'],
    ],
  );
});

test('a heuristic is asked once for all that happens at an instant, and for others in the queue at most once a second', (t) => {
  const { harness, heuristic } = aHarness();
  harness.perform(['listing l=running@1/8x90000', 'demand b 20']);
  harness.perform(['accepted q1', 'accepted q2']);
  const { length } = heuristic.asked;
  harness.perform(['at 500', 'listing q1=queued q2=queued', 'demand b 20']);
  t.is(heuristic.asked.length, length);
  harness.perform(['at 1001']);
  t.deepEqual(
    heuristic.asked.slice(length).map(({ trigger }) => trigger),
    ['queue'],
  );
  harness.perform([
    'at 1500',
    'listing q1=running@1400 q2=running@1400',
    'demand b 40',
    'measured q1 longest=10 total=10 count=1',
  ]);
  t.deepEqual(
    heuristic.asked.slice(length + 1).map(({ trigger }) => trigger),
    ['own'],
  );
});
