import test from 'ava';
import { prefetchDepth } from '@mutirao/core/bag';

const rules = { target: 100, replicasMax: 256 };

test('a machine gets no queue before a task time is known', (t) => {
  t.is(prefetchDepth({ noOp: false, slots: 4, taskTimeMedian: undefined }, rules), 0);
});

test('no-ops fill a machine up to the most that it may hold', (t) => {
  t.is(prefetchDepth({ noOp: true, slots: 4, taskTimeMedian: undefined }, rules), 252);
  t.is(prefetchDepth({ noOp: true, slots: 300, taskTimeMedian: undefined }, rules), 0);
});

test('a queue holds what fills the target on all slots, rounded up', (t) => {
  t.is(prefetchDepth({ noOp: false, slots: 1, taskTimeMedian: 100 }, rules), 1);
  t.is(prefetchDepth({ noOp: false, slots: 1, taskTimeMedian: 99 }, rules), 2);
  t.is(prefetchDepth({ noOp: false, slots: 4, taskTimeMedian: 20 }, rules), 20);
});

test('tasks of no measurable time fill a machine as no-ops do', (t) => {
  t.is(prefetchDepth({ noOp: false, slots: 4, taskTimeMedian: 0 }, rules), 252);
});

test('tasks a hundred times as long as the target get no queue', (t) => {
  t.is(prefetchDepth({ noOp: false, slots: 1, taskTimeMedian: 9_999 }, rules), 1);
  t.is(prefetchDepth({ noOp: false, slots: 1, taskTimeMedian: 10_000 }, rules), 0);
});
