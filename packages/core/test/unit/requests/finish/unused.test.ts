import test from 'ava';
import { finishHeuristic, type PendingRequest, type RequestDecision, type RequestFacts } from '@mutirao/core/requests';
import { aListing, someFacts, type ListedRequest } from '@mutirao/testkit';

const second = 1000;
const hour = 3600 * second;
const now = 30 * hour;

/**
 * Of 1000 tasks of 5,000 to 15,000 s the last 80 run in four requests, which end under many of them: width, and seconds
 * left.
 */
const running = (
  [
    [25, 3000],
    [22, 3300],
    [5, 3600],
    [28, 3900],
  ] as const
).map(
  ([width, left], index): PendingRequest => ({
    requestId: `q${index}`,
    listedAs: String(index),
    width,
    walltime: 6 * hour,
    status: 'running',
    startedAt: now + left * second - 6 * hour,
    submittedAt: 0,
    idle: 0,
    tasks: [{ count: width, time: 1000 * second }],
  }),
);

/** The other 48 processors are free, unless others have them. */
function decide(change: Partial<RequestFacts> = {}, others: readonly ListedRequest[] = []): RequestDecision {
  const { pending = running } = change;
  const own = pending.map(
    ({ width, walltime, status, startedAt }): ListedRequest => ({
      status: status === 'running' ? 'running' : 'queued',
      width,
      walltime,
      startsAt: startedAt,
    }),
  );
  return finishHeuristic.draft(
    someFacts({
      now,
      trigger: 'own',
      limits: { processors: 128, requestsMax: 6, widthMax: 128, walltimeMax: 18 * hour, walltimeGranularity: second },
      listing: aListing(128, now, [...own, ...others]),
      pending,
      demand: { pendingTasks: 80, processors: 1, deadline: undefined },
      taskTimes: { longest: 14_990 * second, mean: 9800 * second, count: 920 },
      taskSpread: { shortest: 5000 * second, deviation: 2880 * second },
      ...change,
    }),
  );
}

test('no request is made that would start at once while every task runs: it would be released for lack of one', (t) => {
  t.deepEqual(decide().drafts, [], '48 processors from the first cut on would fit in what is free now');
  const others: readonly ListedRequest[] = [{ status: 'running', width: 48, walltime: 18 * hour, startsAt: now }];
  t.deepEqual(
    decide({}, others).drafts.map(({ width }) => width > 0),
    [true],
    'what cannot start before a cut is asked for',
  );
});

test('after a request that was released before a task began in it, nothing is asked for ahead of a cut until another one starts', (t) => {
  const others: readonly ListedRequest[] = [{ status: 'running', width: 48, walltime: 18 * hour, startsAt: now }];
  const after = decide({ unusedAt: now }, others);
  t.deepEqual(after.drafts, []);
  t.true(after.reasons.some(({ code }) => code === 'finish-last-request-unused'));
  const lastStart = Math.max(...running.map(({ startedAt }) => startedAt));
  t.deepEqual(decide({ unusedAt: lastStart }, others).drafts, [], 'it is remembered while the same requests run');
  t.true(decide({ unusedAt: lastStart - 1 }, others).drafts.length > 0, 'one has started since');
});

test('tasks that wait are asked for whatever was released unused before', (t) => {
  const asked = (unusedAt: number): number[] =>
    decide({ pending: running.slice(1), unusedAt }).drafts.map(({ width }) => width);
  t.deepEqual(asked(now), [25]);
});
