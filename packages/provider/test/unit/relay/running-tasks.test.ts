import test from 'ava';
import { RunningTasks } from '../../../src/relay/running-tasks.ts';

test('start times of running tasks are reported for machines where they changed, and for no others', (t) => {
  const running = new RunningTasks();
  running.noteStart('m1', 1, 100);
  running.noteStart('m2', 2, 150);
  t.deepEqual(running.take(), [
    ['m1', 100],
    ['m2', 150],
  ]);
  t.deepEqual(running.take(), []);
  running.noteEnd('m1', 1);
  running.noteStart('m1', 3, 200);
  t.deepEqual(running.take(), [['m1', 200]]);
  running.noteEnd('m2', 2);
  t.deepEqual(running.take(), [['m2', 0]]);
});

test('the oldest of several that run counts', (t) => {
  const running = new RunningTasks();
  running.noteStart('m', 1, 100);
  running.noteStart('m', 2, 150);
  running.noteEnd('m', 1);
  t.deepEqual(running.take(), [['m', 150]]);
});

test('an end without a reported start shows that nothing older runs there, and an agent that is away is forgotten', (t) => {
  const running = new RunningTasks();
  running.noteEnd('m', 7);
  t.deepEqual(running.take(), [['m', 0]]);
  running.noteStart('m', 8, 100);
  running.forget('m');
  t.deepEqual(running.take(), []);
});
