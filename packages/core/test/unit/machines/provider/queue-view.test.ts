// The queue as the request heuristic sees it, for those who ask.
import test from 'ava';
import { viewQueue, type ViewedQueue } from '@mutirao/core/machines/provider';
import { ProviderHarness } from '@mutirao/testkit';

const minute = 60_000;

function aHarness(...lines: readonly string[]): ProviderHarness {
  const harness = new ProviderHarness({ heuristic: 'adaptive' });
  harness.perform(['at 1000', 'start', `limits requests=2 width=8 walltime=${10 * minute}`, 'connect b1']);
  for (const line of lines) harness.perform([line]);
  return harness;
}

const listSteps = ({ at, steps }: ViewedQueue): (readonly [number, number])[] =>
  steps.map(({ from, free }) => [from - at, free] as const);

test('before the queue was read nothing is known of it, and why is said', (t) => {
  const { state } = aHarness();
  t.like(viewQueue(state, 1000), {
    providerId: 'p',
    knowledge: 'none',
    trouble: { code: 'queue-not-read' },
    readAt: 0,
    steps: [],
    requests: [],
    decision: undefined,
  });
  const broken = aHarness('listing-failed squeue is away');
  t.deepEqual(viewQueue(broken.state, 1000).trouble, { code: 'queue-unreadable', trouble: 'squeue is away' });
  const machines = new ProviderHarness({ resourceKind: 'machines' });
  t.like(viewQueue(machines.state, 0), {
    knowledge: 'none',
    trouble: { code: 'queue-absent' },
  });
});

test('free processors over time are those that a decision would see: running requests to their walltime, waiting ones at their place', (t) => {
  const harness = aHarness(`listing a=running@1000/5x${2 * minute} b=queued@0/8x${minute}`);
  harness.now = 1000 + minute;
  const view = viewQueue(harness.state, harness.now);
  t.like(view, {
    knowledge: 'complete',
    trouble: undefined,
    processors: 8,
    readAt: 1000,
    runningCount: 1,
    waitingCount: 1,
  });
  t.deepEqual(listSteps(view), [
    [0, 3],
    [minute, 0],
    [2 * minute, 8],
  ]);
  t.deepEqual(
    view.requests.map(({ status, requestId, startsAt, isForecast }) => [status, requestId, startsAt, isForecast]),
    [
      ['running', '', 1000, false],
      ['queued', '', 1000 + 2 * minute, true],
    ],
  );
});

test('a request that waits for something other than processors takes no place, and is still listed', (t) => {
  const harness = aHarness(`listing a=running@1000/5x${2 * minute} b=held@0/8x${minute} c=queued@0/3x${minute}`);
  const view = viewQueue(harness.state, 1000);
  t.deepEqual(listSteps(view), [
    [0, 0],
    [minute, 3],
    [2 * minute, 8],
  ]);
  t.deepEqual(
    view.requests.map(({ managerRequestId, isForecast }) => [managerRequestId, isForecast]),
    [
      ['a', false],
      ['b', false],
      ['c', true],
    ],
  );
  t.is(view.waitingCount, 2);
  // Nor does a decision see it: the processors that are free now are asked for.
  const alone = aHarness(`listing a=running@1000/5x${2 * minute} b=held@0/8x${9 * minute}`, 'demand b1 20');
  t.deepEqual(
    [...alone.state.requests.values()].map(({ width }) => width),
    [3, 8],
  );
});

test('own requests come first, also those that no listing has yet, and the decision that made them is reported with its candidates', (t) => {
  const harness = aHarness(`listing a=running@1000/5x${2 * minute}`, 'demand b1 20');
  const view = viewQueue(harness.state, 1000);
  t.deepEqual(
    view.requests.map(({ requestId }) => requestId),
    ['q1', 'q2', ''],
  );
  t.like(view.decision, { at: 1000, heuristic: 'adaptive' });
  t.true((view.decision?.candidates.length ?? 0) >= 2);
  t.true(view.decision?.candidates[0]?.chosen);
  harness.restart();
  t.deepEqual(
    viewQueue(harness.state, 2000).decision?.candidates.length,
    view.decision?.candidates.length,
    'after a restart the newest request shows it',
  );
});

test('a queue that cannot be read now is reported as it was, and a queue that hides others says so', (t) => {
  const harness = aHarness(`listing a=running@1000/5x${2 * minute}`, 'listing-failed squeue is away');
  t.like(viewQueue(harness.state, 1000), {
    knowledge: 'stale',
    trouble: { code: 'queue-shown-stale', trouble: 'squeue is away' },
  });
  const hidden = aHarness('listing free=2');
  const view = viewQueue(hidden.state, 1000);
  t.is(view.knowledge, 'hidden');
  t.deepEqual(
    listSteps(view),
    [
      [0, 2],
      [10 * minute, 8],
    ],
    'what nobody is listed for is taken to be held for the longest walltime',
  );
});

test('a long queue is reported in part, with the end of its steps', (t) => {
  const listed = Array.from({ length: 2500 }, (_, index) => `r${index}=queued@${2000 + 2000 * index}/8x1000`);
  const harness = aHarness(`listing ${listed.join(' ')}`);
  const view = viewQueue(harness.state, 1000);
  t.is(view.steps.length, 2000);
  t.true((view.stepsUntil ?? 0) > (view.steps.at(-1)?.from ?? Infinity));
  t.is(view.requests.length, 1000);
  t.is(view.waitingCount, 2500);
});
