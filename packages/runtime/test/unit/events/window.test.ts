import test from 'ava';

import { countKept, nextWindow, windowMax } from '../../../src/events/window.ts';

const kept = { status: 'fulfilled', value: 'kept' } as const;
const misplaced = { status: 'fulfilled', value: 'out of order' } as const;
const unknown = { status: 'rejected', reason: new Error('no answer') } as const;

test('what counts as kept ends before the first message that may not be, whatever came of those after it', (t) => {
  t.is(countKept([]), 0);
  t.is(countKept([kept, kept]), 2);
  t.is(countKept([kept, unknown, kept]), 1);
  t.is(countKept([misplaced, kept]), 0);
});

test('a row that broke is followed by a single message, and then rows grow again up to their bound', (t) => {
  t.is(nextWindow(64, { sent: 64, kept: 63 }), 1);
  t.is(nextWindow(1, { sent: 1, kept: 1 }), 2);
  t.is(nextWindow(windowMax, { sent: 3, kept: 3 }), windowMax);
});
