// Requests that their manager puts back into its queue after they had started, or ends.
import test from 'ava';
import { describeRequest, takeSnapshot, restoreSnapshot, type ProviderChange } from '@mutirao/core/machines/provider';
import { ProviderHarness } from '@mutirao/testkit';

/** A provider with one request that runs since 15, and had an agent. */
function aProvider(): {
  readonly harness: ProviderHarness;
  perform(at: number, ...lines: string[]): ProviderChange['kind'][];
} {
  const harness = new ProviderHarness();
  const perform = (at: number, ...lines: string[]): ProviderChange['kind'][] => {
    const before = harness.journal.length;
    harness.now = at;
    harness.perform(lines);
    return harness.journal.slice(before).map(({ kind }) => kind);
  };
  perform(1, 'start', 'connect b1', 'limits requests=1 width=1 walltime=100000', 'demand b1 100', 'listing');
  perform(10, 'accepted q1');
  perform(20, 'listing q1=running@15', 'attach q1.0');
  perform(30, 'left q1.0');
  return { harness, perform };
}

test('a request that two listings in a row show as waiting after it had started waits again, and says why', (t) => {
  const { harness, perform } = aProvider();
  t.deepEqual(perform(40, 'listing q1=queued'), []);
  t.deepEqual(perform(50, 'listing q1=queued'), ['RequestRequeued']);
  const request = harness.state.requests.get('q1')!;
  t.like(describeRequest(harness.state, request), { status: 'queued', startedAt: 0, submittedAt: 50, endedAt: 0 });
  t.deepEqual(request.reasons.at(-1), { code: 'requeued' });
});

test('a listing that was read before the start was known, or that failed, or a later one that shows it running, counts for nothing', (t) => {
  const { perform } = aProvider();
  t.deepEqual(perform(40, 'listing q1=queued'), []);
  t.deepEqual(perform(50, 'listing q1=running@15'), []);
  t.deepEqual(perform(60, 'listing q1=queued'), []);
  t.deepEqual(perform(70, 'listing-failed hung'), []);
  t.deepEqual(perform(80, 'listing at=10 q1=queued'), []);
  t.deepEqual(perform(90, 'listing q1=queued'), ['RequestRequeued']);
});

test('an agent that comes shows that a request which was requeued has started again', (t) => {
  const { harness, perform } = aProvider();
  perform(40, 'listing q1=queued');
  perform(50, 'listing q1=queued');
  t.deepEqual(perform(60, 'attach q1.0 incarnation=second'), ['RequestStarted', 'MachineJoined']);
  t.like(harness.state.requests.get('q1'), { status: 'running', startedAt: 60 });
  t.is(harness.state.machines.get('p/q1.0')?.facts.until, 100_060);
});

test('what is learnt of waits is counted from when a request was put back', (t) => {
  const { harness, perform } = aProvider();
  perform(1000, 'listing q1=queued');
  perform(1010, 'listing q1=queued');
  perform(1500, 'listing q1=running@1400');
  t.deepEqual(
    harness.state.waits.map(({ wait }) => wait),
    [5, 390],
  );
});

test('a request that was put back and started again between two listings is a start of its own', (t) => {
  const { harness, perform } = aProvider();
  t.deepEqual(perform(200_000, 'listing q1=running@150000'), ['RequestRequeued', 'RequestStarted']);
  t.like(harness.state.requests.get('q1'), { status: 'running', startedAt: 150_000 });
});

test('that a request was requeued outlives a restart and a snapshot', (t) => {
  const { harness, perform } = aProvider();
  perform(40, 'listing q1=queued');
  perform(50, 'listing q1=queued');
  const deserialized = restoreSnapshot(harness.config, structuredClone(takeSnapshot(harness.state)));
  t.like(deserialized.requests.get('q1'), { status: 'queued', startedAt: 0, submittedAt: 50 });
  harness.restart();
  t.like(harness.state.requests.get('q1'), { status: 'queued', startedAt: 0, submittedAt: 50 });
});

test('a request says why its manager ended it, also after a restart, unless that was asked of it', (t) => {
  const getEndCode = (end: string, ...before: string[]): string | undefined => {
    const { harness, perform } = aProvider();
    for (const line of before) perform(150, line);
    perform(200, `listing q1=ended@190:${end}`);
    const again = restoreSnapshot(harness.config, structuredClone(takeSnapshot(harness.state)));
    return describeRequest(again, again.requests.get('q1')!).endCode;
  };
  t.is(getEndCode('PREEMPTED'), 'MUT_ALLOCATION_ENDED');
  t.is(getEndCode('NODE_FAIL'), 'MUT_MACHINE_LOST');
  t.is(getEndCode('PREEMPTED', 'drain-now'), undefined);
});
