// Follows a fake reservation manager, for a machine that only notes what it receives.
import { setImmediate as turn } from 'node:timers/promises';
import { join } from 'node:path';
import test from 'ava';
import type { ProviderInput } from '@mutirao/core/machines/provider';
import { MutiraoError } from '@mutirao/api/errors';
import { openClaimSigner } from '@mutirao/runtime/claims';
import { quietLogger } from '@mutirao/runtime/log';
import { aReservationWire, HandTimers, FakeReservations, temporaryFolder } from '@mutirao/testkit';
import { ProvisioningFollower } from '../../../src/reservations/provisioning-follower.ts';

/** Far away, for a claim that has ended is refused. */
const [startUnixMs, endUnixMs] = [4_000_000_000_000, 4_000_003_600_000];

async function settle(): Promise<void> {
  for (let round = 0; round < 60; round += 1) await turn();
}

test('the machine receives reservations once the size of the resource is known, and of each claim whether it is good', async (t) => {
  const folder = temporaryFolder(t);
  const manager = new FakeReservations(openClaimSigner(join(folder, 'claim-key.pem'), 'local'));
  const reservation = aReservationWire({ startUnixMs, endUnixMs });
  manager.reservations = [reservation];
  const timers = new HandTimers();
  const received: ProviderInput[] = [];
  let isDown = true;
  const client = new ProvisioningFollower({
    address: 'h:1',
    resourceId: 'alpha',
    token: () => 'secret',
    directory: folder,
    interval: 10_000,
    log: quietLogger,
    timers,
    connect: () => manager.connect(),
    processors: () =>
      isDown ? Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'no controller')) : Promise.resolve(8),
    sleep: (_delay, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => {
          resolve();
        });
      }),
    deliver: (input) => {
      received.push(input);
    },
  });
  let isStopped = false;
  t.teardown(() => (isStopped ? undefined : client.stop()));
  const shown = (claim: string) => ({
    claim,
    reservationId: 7,
    revision: 1,
    resourceId: 'alpha',
    userId: 'ana',
    startsAt: startUnixMs,
    endsAt: endUnixMs,
    amount: 2,
    units: [],
  });
  const claim = manager.claim(reservation);

  client.start();
  await settle();
  await client.judge(shown(claim));
  t.deepEqual(received.splice(0), [{ kind: 'ClaimJudged', claim, code: 'MUT_UNREACHABLE' }]);

  client.noteProvisioning(7, {
    status: 'held',
    heldCount: 2,
    askedCount: 0,
    askAt: 0,
    expectedAt: 0,
    chance: undefined,
    reasons: [],
  });
  isDown = false;
  t.is(timers.ring(), 10_000);
  await settle();
  t.like(
    manager.aheads,
    [{ reservationId: 7, provisioning: { heldUnits: 2 } }],
    'what was held before is reported as soon as a broker connects',
  );
  t.like(manager.registered[0], { resourceId: 'alpha', quantity: '8' });
  t.deepEqual(received.splice(0), [
    {
      kind: 'WindowsReported',
      windows: [
        {
          reservationId: 7,
          userId: reservation.userId,
          count: reservation.amount,
          startsAt: startUnixMs,
          endsAt: endUnixMs,
        },
      ],
    },
  ]);
  await client.judge(shown(claim));
  await client.judge(shown('no claim'));
  t.deepEqual(received.splice(0), [
    { kind: 'ClaimJudged', claim, code: '' },
    { kind: 'ClaimJudged', claim: 'no claim', code: 'MUT_CLAIM_FORGED' },
  ]);

  await client.stop();
  isStopped = true;
  await client.judge(shown(claim));
  t.deepEqual(received, [], 'a stopped state machine receives nothing');
});

test('a stopped follower does not ask for the size of the resource any more', async (t) => {
  const timers = new HandTimers();
  let asked = 0;
  const client = new ProvisioningFollower({
    address: 'h:1',
    resourceId: 'alpha',
    token: () => 'secret',
    directory: temporaryFolder(t),
    interval: 10_000,
    log: quietLogger,
    timers,
    deliver: () => undefined,
    processors: () => {
      asked += 1;
      return Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'no controller'));
    },
  });
  client.start();
  await settle();
  await client.stop();
  t.is(timers.ring(), -1);
  t.is(asked, 1);
});
