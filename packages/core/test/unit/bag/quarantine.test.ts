import test from 'ava';
import { quarantineTime } from '@mutirao/core/bag';

const rules = { breakagesMax: 3, first: 10, longest: 60 };

test('a quarantine begins at the third breakage and doubles up to the longest', (t) => {
  t.deepEqual([0, 1, 2, 3, 4, 5, 6, 2000].map((breakages) => quarantineTime(breakages, rules)), [0, 0, 0, 10, 20, 40, 60, 60]);
});
