import test from 'ava';
import fc from 'fast-check';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  replayRequests,
  type QueuePolicy,
  type TracedRequest,
} from '@mutirao/core/queue';
import { runs, slowEasy, slowReinsert, slowStartNow, slowStarts, startHeads, type SlowPolicy } from '@mutirao/testkit';

const pairs: readonly (readonly [QueuePolicy, SlowPolicy])[] = [
  [
    firstComeFirstServed,
    (resource, now) => {
      startHeads(resource, now);
    },
  ],
  [easyBackfilling, slowEasy],
  [conservativeBackfilling('start-now'), slowStartNow],
  [conservativeBackfilling('reinsert'), slowReinsert],
];

/**
 * Arrivals in bursts, so that the queue is long and many things happen at one instant; half of the requests end early.
 */
function anyTrace(capacity: number): fc.Arbitrary<TracedRequest[]> {
  const anyRequest = fc.record({
    gap: fc.constantFrom(0, 0, 0, 1, 2, 9),
    width: fc.integer({ min: 1, max: capacity }),
    walltime: fc.integer({ min: 1, max: 30 }),
    share: fc.integer({ min: 1, max: 8 }),
  });
  return fc.array(anyRequest, { minLength: 1, maxLength: 40 }).map((requests) => {
    let at = 0;
    return requests.map(({ gap, width, walltime, share }) => {
      at += gap;
      return { submittedAt: at, width, walltime, runTime: Math.min(walltime, Math.ceil((walltime * share) / 4)) };
    });
  });
}

for (const [policy, slow] of pairs) {
  for (const capacity of [3, 10]) {
    test(`under ${policy.name} on ${capacity} processors the starts are those of a slow reference`, (t) => {
      fc.assert(
        fc.property(anyTrace(capacity), (trace) => {
          t.deepEqual(
            replayRequests(policy, capacity, trace).map(({ startedAt }) => startedAt),
            slowStarts(slow, capacity, trace),
          );
        }),
        runs(20_250_103, 150),
      );
      t.pass();
    });
  }
}
