import test from 'ava';
import { getHealth, noteHealth, quarantineTime } from '@mutirao/core/bag';

const rules = { breakagesMax: 3, first: 10, longest: 60 };

test('a quarantine begins at the third breakage and doubles up to the longest', (t) => {
  t.deepEqual(
    [0, 1, 2, 3, 4, 5, 6, 2000].map((breakages) => quarantineTime(breakages, rules)),
    [0, 0, 0, 10, 20, 40, 60, 60],
  );
});

test('a report says of its machine that it broke things only where it ended nothing by itself', (t) => {
  const [lost, full, cancelled, failed] = [
    ['broken', 'MUT_LAUNCH_FAILED'],
    ['broken', 'MUT_NO_SPACE'],
    ['cancelled', ''],
    ['failed', ''],
  ].map(([outcome, reason]) => ({ outcome, reason })) as Parameters<typeof getHealth>[0];
  t.deepEqual(
    [[], [cancelled], [lost, cancelled], [full], [full, lost], [lost, failed]].map((ends) =>
      getHealth(ends as Parameters<typeof getHealth>[0]),
    ),
    ['silent', 'silent', 'broken', 'full', 'broken', 'sound'],
  );
});

test("an end that may be the task's own doing is doubted, and one that the site brought about says nothing", (t) => {
  const [lost, odd, drained] = ['MUT_LAUNCH_FAILED', 'X', 'MUT_DRAINING'].map(
    (reason) => ({ outcome: 'broken', reason }) as const,
  );
  t.deepEqual(
    [[odd], [odd, drained], [drained], [odd, lost]].map((ends) => getHealth(ends as Parameters<typeof getHealth>[0])),
    ['doubted', 'doubted', 'silent', 'broken'],
  );
});

test('breakages are counted by report, and a full disk is none', (t) => {
  const machine = { breakages: 0, quarantinedUntil: 0 };
  const walk = (['broken', 'silent', 'broken', 'full', 'broken', 'sound', 'broken'] as const).map((health, index) => {
    noteHealth(machine, health, { rules, now: 100 * (index + 1) });
    return [machine.breakages, machine.quarantinedUntil];
  });
  t.deepEqual(walk, [
    [1, 0],
    [1, 0],
    [2, 0],
    [2, 410],
    [3, 510],
    [0, 510],
    [1, 510],
  ]);
});
