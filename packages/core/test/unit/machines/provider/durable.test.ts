// What of a provider's journal survives a crash of its host.
import test from 'ava';
import { isDurable } from '@mutirao/core/machines/provider';

test('what bounds the requests of an hour is on the disk before anything follows from it, and other releases need not be', (t) => {
  const release = {
    kind: 'RequestReleasing',
    requestId: 'q1',
    reasons: [{ code: 'released-overdue' }],
    at: 5,
  } as const;
  t.true(isDurable({ ...release, isGivenUp: true }));
  t.false(isDurable(release));
  t.true(isDurable({ kind: 'ClockStepped', by: 60_000, at: 5 }));
  t.true(isDurable({ kind: 'ClockSetBack', at: 5 }));
});
