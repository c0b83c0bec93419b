import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import { PushAttempts } from '../../src/push-attempts.ts';

const gone = new MutiraoError('MUT_UNREACHABLE', 'gone');
const full = new MutiraoError('MUT_SPOOL_FULL', 'no room');

test('a push that fails is tried twenty times, with longer and longer pauses', (t) => {
  const attempts = new PushAttempts();
  const pauses = Array.from({ length: 20 }, () => attempts.pauseAfter(gone));
  t.deepEqual(pauses.slice(0, 3), [500, 1000, 1500]);
  t.deepEqual(pauses.slice(-2), [5000, undefined]);
});

test('a push of which each attempt brings something is tried as often as it takes', (t) => {
  const attempts = new PushAttempts();
  for (let stored = 1; stored < 100; stored += 1) {
    attempts.noteStored(stored);
    t.is(attempts.pauseAfter(gone), 500);
  }
  for (let count = 0; count < 18; count += 1) {
    attempts.noteStored(99);
    t.not(attempts.pauseAfter(gone), undefined);
  }
  t.is(attempts.pauseAfter(gone), undefined);
});

test('a provider without room is asked for ever', (t) => {
  const attempts = new PushAttempts();
  for (let count = 0; count < 100; count += 1) t.is(attempts.pauseAfter(full), 5000);
  t.is(attempts.pauseAfter(gone), 500);
});
