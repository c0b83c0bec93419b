// The local level under site selection: FCFS, EASY and conservative backfilling, on cases that are worked out by hand.
import test from 'ava';
import { siteSelectionStrategies } from '@mutirao/core/site-selection';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  type QueuePolicy,
  type TracedRequest,
} from '@mutirao/core/queue';
import { runSiteSelection } from '@mutirao/sim';

/** Where each task ran and when it started. */
function run(policy: QueuePolicy, stream: readonly TracedRequest[]): (readonly [cluster: number, startedAt: number])[] {
  const runs = siteSelectionStrategies.map((strategy) => {
    // With a = 1/4 of 16 processors those of the first cluster are enough for who fits there: no strategy has a choice.
    const { finished, clusters } = runSiteSelection(
      { sizes: [4, 4, 8], policy, strategy, admissibility: 0.25, seed: '1' },
      stream,
    );
    return stream.map(
      ({ runTime }, index) => [clusters[index] ?? -1, (finished[index]?.endedAt ?? 0) - runTime] as const,
    );
  });
  const [first = [], ...others] = runs;
  for (const other of others)
    if (JSON.stringify(other) !== JSON.stringify(first)) throw new Error('two strategies did not do the same');
  return first;
}

const task = (width: number, walltime: number, runTime = walltime): TracedRequest => ({
  submittedAt: 0,
  width,
  walltime,
  runTime,
});

// On 4 processors A runs from 0 to 10; B (3) and C (4) wait for it, D (1, for 30) and E (2, for 10) come behind. The
// last one takes the large cluster.
const five = (runTimeOfA: number): TracedRequest[] => [
  task(2, 10, runTimeOfA),
  task(3, 10),
  task(4, 10),
  task(1, 30),
  task(2, 10),
  task(8, 10),
];

test("gonzalez2010, level 2, FCFS: no task passes the head of a cluster's queue", (t) => {
  t.deepEqual(run(firstComeFirstServed, five(10)), [
    [0, 0],
    [0, 10],
    [0, 20],
    [0, 30],
    [0, 30],
    [2, 0],
  ]);
  // A ends at 5, and all come 5 earlier.
  t.deepEqual(run(firstComeFirstServed, five(5)), [
    [0, 0],
    [0, 5],
    [0, 15],
    [0, 25],
    [0, 25],
    [2, 0],
  ]);
});

test('gonzalez2010, level 2, EASY: any task that does not delay the head may start, also to the harm of the second', (t) => {
  // B is to start at 10 and leaves one processor, which D takes at once, for 30: so C waits until 30, and E fits before
  // that at 20.
  t.deepEqual(run(easyBackfilling, five(10)), [
    [0, 0],
    [0, 10],
    [0, 30],
    [0, 0],
    [0, 20],
    [2, 0],
  ]);
  t.deepEqual(run(easyBackfilling, five(5)), [
    [0, 0],
    [0, 5],
    [0, 30],
    [0, 0],
    [0, 15],
    [2, 0],
  ]);
});

for (const compression of ['start-now', 'reinsert'] as const) {
  test(`gonzalez2010, level 2, conservative backfilling, ${compression}: no place is delayed by a later task`, (t) => {
    // D would be in C's way before 30; beside A there is room for E at once.
    t.deepEqual(run(conservativeBackfilling(compression), five(10)), [
      [0, 0],
      [0, 10],
      [0, 20],
      [0, 30],
      [0, 0],
      [2, 0],
    ]);
    // When A ends at 5, E still has the processor that B would need.
    t.deepEqual(run(conservativeBackfilling(compression), five(5)), [
      [0, 0],
      [0, 10],
      [0, 20],
      [0, 30],
      [0, 0],
      [2, 0],
    ]);
    // With E gone at 5 too, B starts then, and the others when it ends and when C does.
    const both = five(5).map((one, index) => (index === 4 ? { ...one, runTime: 5 } : one));
    t.deepEqual(run(conservativeBackfilling(compression), both), [
      [0, 0],
      [0, 5],
      [0, 15],
      [0, 25],
      [0, 0],
      [2, 0],
    ]);
  });
}
