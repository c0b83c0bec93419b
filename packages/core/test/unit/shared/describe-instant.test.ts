import test from 'ava';
import { describeInstant } from '@mutirao/core/shared';

const known: readonly (readonly [number, string])[] = [
  [0, '1970-01-01T00:00:00Z'],
  [68255999000, '1972-02-29T23:59:59Z'],
  [951825600000, '2000-02-29T12:00:00Z'],
  [1772373909007, '2026-03-01T14:05:09.007Z'],
  [4107542400000, '2100-03-01T00:00:00Z'],
  [13569465599999, '2399-12-31T23:59:59.999Z'],
];

test('an instant is printed as in ISO 8601, over leap years and turns of centuries', (t) => {
  for (const [at, text] of known) t.is(describeInstant(at), text);
});
