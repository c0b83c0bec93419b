import test from 'ava';
import { BrokerHarness } from '@mutirao/testkit';
import { findJobSummary, type JobSummary } from '../../../../src/machines/broker/index.ts';

function findSummary(harness: BrokerHarness, jobId: number): JobSummary {
  const summary = findJobSummary(harness.state, 'ann', jobId);
  if (summary === undefined) throw new Error(`there is no job ${jobId}`);
  return summary;
}

function start(...jobs: readonly string[]): BrokerHarness {
  const harness = new BrokerHarness();
  harness.perform(['provider p', 'connect p resource=cl', 'settle p', ...jobs]);
  return harness;
}

test('a job in a reservation that has not begun names it, with the time at which it begins', (t) => {
  const harness = start('submit ann 2 reservation=7:1000-5000x2 replicas=1', 'submit ann 2 replicas=1');
  t.deepEqual(findSummary(harness, 1).reservationAwaited, { reservationId: 7, resourceId: 'cl', startsAt: 1000 });
  t.is(findSummary(harness, 2).reservationAwaited, undefined);
});

test('a job whose reservation was moved names the new time', (t) => {
  const harness = start('submit ann 2 reservation=7:1000-5000x2 replicas=1');
  harness.perform(['request p/q1 queued width=2 walltime=4000 inside=7:1000-5000x2 moved=2000-6000 why=reserved']);
  t.is(findSummary(harness, 1).reservationAwaited?.startsAt, 2000);
});

test('a job with a task at a machine does not wait for a reservation, nor does one that may run outside its own', (t) => {
  const harness = start(
    'submit ann 2 reservation=7:1000-5000x2 replicas=1',
    'submit ann 2 reservation=8:1000-5000x2 own=yes replicas=1',
  );
  t.is(findSummary(harness, 2).reservationAwaited, undefined);
  harness.perform(['request p/q1 queued width=2 walltime=4000 inside=7:1000-5000x2 why=reserved']);
  harness.perform([
    'at 1000',
    'request p/q1 running width=2 walltime=4000 started=1000 inside=7:1000-5000x2 why=reserved',
    'join p/q1.0 request=q1 until=5000 inside=7:1000-5000x2',
  ]);
  t.is(findSummary(harness, 1).dispatchedCount, 1);
  t.is(findSummary(harness, 1).reservationAwaited, undefined);
});

test('a job that waits although its reservation is over names it without a time', (t) => {
  const harness = start(
    'submit ann 2 reservation=7:1000-5000x2 after=wait replicas=1',
    'submit ann 2 reservation=8:1000-5000x2 replicas=1',
  );
  harness.perform(['at 6000']);
  t.deepEqual(findSummary(harness, 1).reservationAwaited, { reservationId: 7, resourceId: 'cl', startsAt: undefined });
  t.is(findSummary(harness, 2).reservationAwaited, undefined, 'it went on wherever there is a machine');
});
