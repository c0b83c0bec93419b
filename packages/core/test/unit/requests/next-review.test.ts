import test from 'ava';
import { nextReview, reviewPauseMin } from '@mutirao/core/requests';

test('a review comes when the last decision wanted it, never at once, and one that was wanted before an event of the queue in its time', (t) => {
  const now = 5000;
  t.is(
    nextReview({ reviewAt: 9000 }, { now, trigger: 'own', before: 7000 }),
    9000,
    'a full review drops the earlier wish',
  );
  t.is(nextReview({ reviewAt: 9000 }, { now, trigger: 'queue', before: 7000 }), 7000);
  t.is(nextReview({}, { now, trigger: 'queue', before: 7000 }), 7000);
  t.is(nextReview({ reviewAt: 6500 }, { now, trigger: 'queue', before: 7000 }), 6500);
  t.is(nextReview({}, { now, trigger: 'queue', before: now }), Infinity, 'it has been');
  t.is(nextReview({}, { now, trigger: undefined, before: Infinity }), Infinity);
  t.is(nextReview({ reviewAt: now }, { now, trigger: 'review', before: now }), now + reviewPauseMin);
});
