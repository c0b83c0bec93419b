import test from 'ava';
import { groupTasks, joinGroups, taskGroupsMax } from '@mutirao/core/requests';

test('tasks that have run for the same time are one group, the longest first', (t) => {
  t.deepEqual(groupTasks([5, 9, 5, 7, 5]), [
    { count: 1, time: 9 },
    { count: 1, time: 7 },
    { count: 3, time: 5 },
  ]);
  t.deepEqual(groupTasks([]), []);
});

test('many different times are joined under the least of each group, all counted and the longest kept', (t) => {
  const groups = groupTasks(Array.from({ length: 100 }, (_, index) => index + 1));
  t.is(groups.length, taskGroupsMax);
  t.deepEqual(groups.slice(0, 3), [
    { count: 1, time: 100 },
    { count: 7, time: 93 },
    { count: 7, time: 86 },
  ]);
  t.is(
    groups.reduce((sum, { count }) => sum + count, 0),
    100,
  );
  t.is(groups.at(-1)?.time, 1);
});

test('a group larger than its share does not make the others more than they may be', (t) => {
  const groups = joinGroups(
    Array.from({ length: 40 }, (_, index) => ({ count: index === 20 ? 1000 : 1, time: 100 - index })),
  );
  t.true(groups.length <= taskGroupsMax);
  t.is(
    groups.reduce((sum, { count }) => sum + count, 0),
    1039,
  );
});
