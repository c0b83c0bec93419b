// Real machine, a faked other manager; time passes when the test says so.
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import type { GroupOutcome, GroupLink } from '@mutirao/core/messages';
import { quietLogger } from '@mutirao/runtime/log';
import { HandTimers, ReservationsHarness } from '@mutirao/testkit';
import { GroupCommitFollower } from '../../../src/together/group-commit-follower.ts';

async function settle(): Promise<void> {
  for (let round = 0; round < 10; round += 1) await turn();
}

function begin(lines: readonly string[]) {
  const harness = new ReservationsHarness();
  harness.now = 1;
  for (const line of ['owner offers cluster 16', ...lines]) harness.perform(line);
  const timers = new HandTimers();
  const asked: GroupLink[] = [];
  const warnings: unknown[] = [];
  const other: { decision: GroupOutcome | undefined } = { decision: 'open' };
  const follower = new GroupCommitFollower({
    state: harness.state,
    timers,
    log: {
      ...quietLogger,
      warn: (facts: unknown) => {
        warnings.push(facts);
      },
    },
    deliver: (input) => {
      harness.receive([input]);
    },
    ask: (link) => {
      asked.push(link);
      return other.decision === undefined
        ? Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'gone'))
        : Promise.resolve(other.decision);
    },
  });
  follower.start();
  const look = async (): Promise<void> => {
    timers.ring();
    await settle();
  };
  return {
    harness,
    asked,
    warnings,
    other,
    look,
    follower,
    timers,
    statuses: () => harness.perform('list').map((line) => line.split(' ').at(-3)),
  };
}

const held = 'owner wants 2 of cluster for 100 from 5000 hold 50';

test("what is prepared to another manager's is confirmed or given back as that one was, and asked about until it is", async (t) => {
  for (const [decision, status] of [
    ['committed', 'confirmed'],
    ['aborted', 'cancelled'],
  ] as const) {
    const { asked, other, look, statuses } = begin([held, 'owner prepares 1 with 7 at h:1']);
    await look();
    other.decision = 'unknown';
    await look();
    t.deepEqual(statuses(), ['held']);
    other.decision = decision;
    await look();
    t.deepEqual(statuses(), [status]);
    t.is(asked.length, 3);
    t.like(asked[0], { manager: 'h:1', reservationId: 7 });
    await look();
    t.is(asked.length, 3, 'what is decided is not asked about');
  }
});

test('what is prepared to one of the same manager follows it without a call', async (t) => {
  const { asked, harness, look, statuses } = begin([held, held, 'owner prepares 1 with 1', 'owner prepares 2 with 1']);
  await look();
  t.deepEqual(statuses(), ['held', 'held']);
  harness.perform('owner confirms 1');
  await look();
  t.deepEqual(statuses(), ['confirmed', 'confirmed']);
  t.is(asked.length, 0);
});

test('a manager that does not answer is warned of once and asked again', async (t) => {
  const { asked, warnings, other, look, statuses } = begin([held, 'owner prepares 1 with 7 at h:1']);
  other.decision = undefined;
  await look();
  await look();
  t.is(asked.length, 2);
  t.is(warnings.length, 1);
  other.decision = 'committed';
  await look();
  t.deepEqual(statuses(), ['confirmed']);
});

test("another user's request never sends the owner's token to a manager", async (t) => {
  const anas = held.replace('owner', 'ana');
  const { asked, look } = begin([
    anas,
    anas,
    anas,
    'ana prepares 1 with 7 at unix:/tmp/x/y',
    'ana prepares 2 with 7 at 192.0.2.7:1',
    'ana prepares 3 with 7 at nonsense',
  ]);
  await look();
  t.deepEqual(
    asked.map(({ manager }) => manager),
    ['192.0.2.7:1'],
  );
});

test('a stopped follower asks nobody', async (t) => {
  const { asked, follower, timers } = begin([held, 'owner prepares 1 with 7 at h:1']);
  await follower.stop();
  t.is(timers.ring(), -1);
  t.is(asked.length, 0);
});
