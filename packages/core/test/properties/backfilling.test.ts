import test from 'ava';
import fc from 'fast-check';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  replayRequests,
  type QueuePolicy,
  type ReplayedRequest,
  type TracedRequest,
} from '@mutirao/core/queue';
import { runs } from '@mutirao/testkit';

const capacity = 6;
const options = runs(20_250_102, 400);

const anyRequest = fc.record({
  gap: fc.integer({ min: 0, max: 6 }),
  width: fc.integer({ min: 1, max: capacity }),
  walltime: fc.integer({ min: 1, max: 20 }),
  share: fc.integer({ min: 1, max: 4 }),
});

/**
 * Up to 25 requests with many events at the same instant; a run time is a quarter, half, three quarters or all of its
 * walltime.
 */
const anyTrace: fc.Arbitrary<TracedRequest[]> = fc
  .array(anyRequest, { minLength: 1, maxLength: 25 })
  .map((requests) => {
    let at = 0;
    return requests.map(({ gap, width, walltime, share }) => {
      at += gap;
      return { submittedAt: at, width, walltime, runTime: Math.ceil((walltime * share) / 4) };
    });
  });

const policies: readonly QueuePolicy[] = [
  conservativeBackfilling('start-now'),
  conservativeBackfilling('reinsert'),
  easyBackfilling,
  firstComeFirstServed,
];

function busyAt(trace: readonly TracedRequest[], results: readonly ReplayedRequest[], at: number): number {
  return trace.reduce((busy, { width, runTime }, id) => {
    const startedAt = results[id]?.startedAt ?? Infinity;
    return startedAt <= at && at < startedAt + runTime ? busy + width : busy;
  }, 0);
}

for (const policy of policies) {
  test(`under ${policy.name} every request starts, not before it came, and never more run than there are processors`, (t) => {
    fc.assert(
      fc.property(anyTrace, (trace) => {
        const results = replayRequests(policy, capacity, trace);
        return (
          trace.every(({ submittedAt }, id) => (results[id]?.startedAt ?? -1) >= submittedAt) &&
          results.every(({ startedAt }) => busyAt(trace, results, startedAt) <= capacity)
        );
      }),
      options,
    );
    t.pass();
  });

  test(`under ${policy.name} all that fits at once starts at once`, (t) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: capacity }), (walltimes) => {
        const trace = walltimes.map((walltime) => ({ submittedAt: 3, width: 1, walltime, runTime: walltime }));
        return replayRequests(policy, capacity, trace).every(({ startedAt }) => startedAt === 3);
      }),
      options,
    );
    t.pass();
  });
}

for (const compression of ['start-now', 'reinsert'] as const) {
  test(`with ${compression} no request starts later than it was promised`, (t) => {
    fc.assert(
      fc.property(anyTrace, (trace) =>
        replayRequests(conservativeBackfilling(compression), capacity, trace).every(
          ({ startedAt, promisedAt }) => startedAt <= (promisedAt ?? -1),
        ),
      ),
      options,
    );
    t.pass();
  });
}

test('the two compressions are the same where no request ends early', (t) => {
  fc.assert(
    fc.property(anyTrace, (trace) => {
      const punctual = trace.map((request) => ({ ...request, runTime: request.walltime }));
      const [first, second] = (['start-now', 'reinsert'] as const).map((each) =>
        replayRequests(conservativeBackfilling(each), capacity, punctual),
      );
      return JSON.stringify(first) === JSON.stringify(second);
    }),
    options,
  );
  t.pass();
});
