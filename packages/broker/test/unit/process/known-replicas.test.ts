import test from 'ava';
import { createBrokerState } from '@mutirao/core/machines/broker';
import { knownReplicas, type ObservedDriver } from '../../../src/process/known-replicas.ts';

/** A driver that has received these replicas and takes them when it settles. */
function aDriver({
  received,
  stalledBy,
}: {
  received: 'replica' | 'success' | 'nothing';
  stalledBy?: Error;
}): ObservedDriver & { settled: number } {
  const { replicas, successes } = createBrokerState();
  const learn = {
    replica: () => replicas.set(7, {} as never),
    success: () => successes.set(7, {} as never),
    nothing: () => undefined,
  }[received];
  const driver = {
    state: { replicas, successes },
    stalledBy,
    settled: 0,
    settle: () => {
      driver.settled += 1;
      if (stalledBy === undefined) learn();
    },
  };
  return driver;
}

test('a replica that was received a moment ago is known before the next step', (t) => {
  for (const [received, isAwaited, isOpen] of [
    ['replica', true, true],
    ['success', false, true],
    ['nothing', false, false],
  ] as const) {
    t.is(knownReplicas(() => aDriver({ received })).isAwaited(7), isAwaited, received);
    t.is(knownReplicas(() => aDriver({ received })).isOpen(7), isOpen, received);
  }
});

test('of what is known nothing is settled, and where the journal has no room everything is taken for known', (t) => {
  const driver = aDriver({ received: 'replica' });
  const known = knownReplicas(() => driver);
  t.true(known.isAwaited(7) && known.isAwaited(7) && known.isOpen(7));
  t.is(driver.settled, 1);
  const full = knownReplicas(() => aDriver({ received: 'replica', stalledBy: new Error('full') }));
  t.true(full.isAwaited(7) && full.isOpen(7));
});
