import test from 'ava';
import { BrokerHarness } from '@mutirao/testkit';

/**
 * Has the only task of a job end this way on one allocation after another; answers what the broker did at the last end.
 */
function endAgainAndAgain(count: number, { end, until }: { readonly end: string; readonly until: number }): string {
  const harness = new BrokerHarness();
  harness.perform(['provider p']);
  harness.perform(['submit ann 1 failures=1 replicas=1']);
  let last = '';
  for (let round = 1; round <= count; round++) {
    const start = round * 1_000_000;
    harness.perform([`at ${start}`, `join p/${round}.0 request=${round} until=${start + until}`]);
    last = harness.perform([
      `at ${start + 900_000}`,
      `report p/${round}.0 1 ${end} ${round} ${start}..${start + 900_000}`,
    ]);
    harness.perform([`lose p/${round}.0`]);
  }
  return last;
}

test('a task whose machines are shut down more often than its losses may count is still ready', (t) => {
  t.regex(
    endAgainAndAgain(30, { end: 'stopped', until: 86_400_000 }),
    /^r30 of 1\.0 lost: ready \(MUT_AGENT_STOPPED\)$/m,
  );
});

test('a task that is stopped each time just before the end of the walltime is given up after its losses are spent', (t) => {
  t.regex(
    endAgainAndAgain(20, { end: 'stopped', until: 930_000 }),
    /^r20 of 1\.0 lost: failed \(MUT_TASK_LOSS_LIMIT\)$/m,
  );
});

const never = 86_400_000;

/**
 * Has the only task of a job lose its machine without a word on one allocation after another, whose end is heard of
 * later.
 */
function killAgainAndAgain(
  count: number,
  ended: (start: number) => string,
): { readonly harness: BrokerHarness; readonly lines: string } {
  const harness = new BrokerHarness();
  harness.perform(['provider p']);
  harness.perform(['submit ann 1 failures=1 replicas=1']);
  let lines = '';
  for (let round = 1; round <= count; round++) {
    const start = round * 1_000_000;
    harness.perform([`at ${start}`, `join p/${round}.0 request=${round} until=${start + never}`]);
    harness.perform([`report p/${round}.0 1 started ${round}@${start}`]);
    lines += `${harness.perform([`at ${start + 900_000}`, `lose p/${round}.0 MUT_MACHINE_LOST`])}\n`;
    harness.perform([
      `at ${start + 930_000}`,
      `request p/${round} ended width=1 walltime=${never} started=${start} ${ended(start)}`,
    ]);
  }
  return { harness, lines };
}

test('a task whose allocations are taken away by SIGKILL is still ready, though their ends are reported after their machines were lost', (t) => {
  const { harness, lines } = killAgainAndAgain(30, (start) => `ended=${start + 895_000} code=MUT_ALLOCATION_ENDED`);
  t.regex(lines, /^r30 of 1\.0 lost: ready \(MUT_MACHINE_LOST\)$/m);
  t.like(harness.state.jobs.get(1)?.tasks.get(0), { lossCount: 0, stopCount: 30, unjudged: undefined });
});

test('losses count if the allocation ended for lack of its command, or long after, or was given up by its provider', (t) => {
  for (const ended of [
    (start: number) => `ended=${start + 895_000} code=MUT_MACHINE_LOST`,
    (start: number) => `ended=${start + 990_000} code=MUT_ALLOCATION_ENDED`,
    (start: number) => `ended=${start + 895_000}`,
  ]) {
    const { lines } = killAgainAndAgain(40, ended);
    t.regex(lines, /of 1\.0 lost: failed \(MUT_TASK_LOSS_LIMIT\)$/m);
  }
});

test('a task that ends one agent after the other of an allocation that goes on is given up', (t) => {
  const harness = new BrokerHarness();
  harness.perform(['provider p']);
  harness.perform(['submit ann 1 failures=1 replicas=1']);
  const lines: string[] = [];
  for (let round = 1; round <= 60; round++) {
    harness.perform([`at ${round * 100_000}`, `join p/1.${round} request=1 until=${never}`]);
    lines.push(harness.perform([`at ${round * 100_000 + 90_000}`, `lose p/1.${round} MUT_MACHINE_LOST`]));
  }
  t.is(
    lines.findIndex((line) => line.includes('MUT_TASK_LOSS_LIMIT')),
    39,
  );
});

test('a loss that waits for the end of its allocation is kept by a snapshot, and forgotten by a retry', (t) => {
  const harness = new BrokerHarness();
  harness.perform(['provider p']);
  harness.perform(['submit ann 1 failures=1 replicas=1']);
  harness.perform(['at 1000', `join p/1.0 request=1 until=${never}`]);
  harness.perform(['at 2000', 'lose p/1.0 MUT_MACHINE_LOST']);
  t.regex(
    harness.perform(['explain task 1.0 ann']),
    /Its machine was lost or could not run it 1 time; after 20 it is given up\.\n- 1 of these may not count/,
  );
  harness.perform(['restart']);
  t.is(harness.state.jobs.get(1)?.tasks.get(0)?.unjudged?.length, 1);
  harness.perform([
    'at 3000',
    'provider p',
    `request p/1 ended width=1 walltime=${never} started=500 ended=1500 code=MUT_ALLOCATION_ENDED`,
  ]);
  t.like(harness.state.jobs.get(1)?.tasks.get(0), { lossCount: 0, stopCount: 0, unjudged: undefined });
});

test('a gang that is broken by a member whose allocation was taken away loses nothing by it', (t) => {
  const harness = new BrokerHarness();
  harness.perform(['provider p']);
  harness.perform(['join p/1.0 request=1 gangs=yes until=86400000', 'join p/2.0 request=2 gangs=yes until=86400000']);
  harness.perform(['submit ann 1 failures=1 replicas=1 gang=yes processors=2']);
  harness.perform(['report p/1.0 1 held 1@a', 'report p/2.0 1 held 2@b']);
  harness.perform(['at 1000', 'report p/1.0 2 started 1@1000']);
  t.regex(harness.perform(['at 2000', 'lose p/2.0 MUT_MACHINE_LOST']), /r1 of 1\.0 lost: ready \(MUT_GANG_BROKEN/);
  t.is(harness.state.jobs.get(1)?.tasks.get(0)?.lossCount, 1);
  harness.perform([
    'at 3000',
    `request p/2 ended width=1 walltime=${never} started=500 ended=1500 code=MUT_ALLOCATION_ENDED`,
  ]);
  t.like(harness.state.jobs.get(1)?.tasks.get(0), { lossCount: 0, stopCount: 1 });
});

test('a machine that is lost after its allocation was known to be taken away does not count as a loss', (t) => {
  const harness = new BrokerHarness();
  harness.perform(['provider p']);
  harness.perform(['submit ann 1 failures=1 replicas=1']);
  harness.perform(['at 1000', `join p/1.0 request=1 until=${never}`]);
  harness.perform(['disconnect p']);
  harness.perform([
    'at 5000',
    'connect p',
    `request p/1 ended width=1 walltime=${never} started=500 ended=1500 code=MUT_ALLOCATION_ENDED`,
  ]);
  t.regex(harness.perform(['settle p']), /lost: ready \(MUT_ALLOCATION_ENDED\)/);
  t.is(harness.state.jobs.get(1)?.tasks.get(0)?.lossCount, 0);
});
