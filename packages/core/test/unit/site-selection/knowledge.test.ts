import test from 'ava';
import { siteSelectionStrategies, type Strategy } from '@mutirao/core/site-selection';

// The compiler is the test: a directive below that hides no error is an error itself.

test('a strategy that reads more than its level allows does not compile', (t) => {
  // @ts-expect-error Level 0 knows no number of tasks.
  const counting: Strategy<0> = { name: 'counting', level: 0, evaluate: ({ taskCount }) => taskCount };
  // @ts-expect-error Level 1 knows no widths.
  const weighing: Strategy<1> = { name: 'weighing', level: 1, evaluate: ({ widthSum }) => widthSum };
  // @ts-expect-error Level 1 does not know the width of the task that is placed.
  const fitting: Strategy<1> = { name: 'fitting', level: 1, evaluate: (_, { task }) => task.width };
  // @ts-expect-error Level 2 knows no walltimes.
  const timing: Strategy<2> = { name: 'timing', level: 2, evaluate: ({ workSum }) => workSum };
  // @ts-expect-error Nor that of the task that is placed.
  const hasting: Strategy<2> = { name: 'hasting', level: 2, evaluate: (_, { task }) => task.walltime };
  // @ts-expect-error Level 3 knows no schedules.
  const planning: Strategy<3> = { name: 'planning', level: 3, evaluate: ({ lastEnd }) => lastEnd };
  const comparing: Strategy<3> = {
    name: 'comparing',
    level: 3,
    // @ts-expect-error Nor those of the other resources.
    evaluate: (_, { admissible }) => admissible[0]?.endsAt ?? 0,
  };
  t.is([counting, weighing, fitting, timing, hasting, planning, comparing].length, 7);
});

test('a strategy says its level, and reads what that and all levels below know', (t) => {
  const all: Strategy<4> = {
    name: 'all',
    level: 4,
    evaluate: ({ processors, taskCount, widthSum, workSum, lastEnd }, { task }) =>
      processors + taskCount + widthSum + workSum + lastEnd + task.walltime,
  };
  // @ts-expect-error What reads schedules is of level 4, not 3.
  const lower: Strategy<3> = all;
  t.is(lower.name, 'all');
  t.deepEqual(
    siteSelectionStrategies.map(({ name, level }) => `${name} ${level}`),
    [
      'random 0',
      'min-lp 1',
      'min-pl 2',
      'min-lbal 2',
      'min-lb 3',
      'min-ct 4',
      'min-swct 4',
      'min-wt 4',
      'min-wwt 4',
      'min-u 4',
      'min-st 4',
      'min-ta 4',
      'min-wta 4',
      'min-wwota 4',
    ],
  );
});
