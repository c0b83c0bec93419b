import test from 'ava';
import { isSameWindow, type ReservedWindow } from '@mutirao/core/messages';

const window: ReservedWindow = { reservationId: 1, userId: 'ana', count: 4, startsAt: 1000, endsAt: 2000 };

test('two windows are the same when they agree in each of their fields', (t) => {
  t.true(isSameWindow({ ...window }, window));
  const others: Partial<ReservedWindow>[] = [
    { reservationId: 2 },
    { userId: 'bob' },
    { count: 5 },
    { startsAt: 1001 },
    { endsAt: 2001 },
  ];
  t.deepEqual(
    others.map((other) => isSameWindow({ ...window, ...other }, window)),
    others.map(() => false),
  );
  t.false(isSameWindow(undefined, window), 'a window that was not known is new');
});
