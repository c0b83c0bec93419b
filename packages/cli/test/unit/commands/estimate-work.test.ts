import test from 'ava';
import { estimateWork } from '../../../src/commands/job/estimate-work.ts';

const minute = 60_000;

test("what is asked for a bag is Graham's bound and a tenth more", (t) => {
  t.is(
    estimateWork(100, 4, { usual: 10 * minute, longest: 20 * minute, source: '' }),
    (100 * 10 + 3 * 20) * minute * 1.1,
  );
});

test('workers have a minute to come, however short the tasks are: a reservation of milliseconds would be over before its job is there', (t) => {
  t.is(estimateWork(2, 2, { usual: 2, longest: 2, source: '' }), 6 + 2 * minute);
});
