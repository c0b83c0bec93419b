import test from 'ava';
import { expandPathVariables, keepInside, getPathVariables } from '@mutirao/core/bag';

const place = {
  jobId: 3,
  taskIndex: 7,
  machineId: 'lab/m1',
  attributes: { username: 'w1', servername: 'x', os: 'linux', osversion: '12' },
};

function expand(text: string): string {
  return expandPathVariables(text, getPathVariables(place));
}

test('variables are replaced as plain text', (t) => {
  t.is(expand('out/$JOB/$TASK.txt'), 'out/3/7.txt');
  t.is(expand('$TASKID'), '7ID');
  t.is(expand('$PROC0'), 'w1@x0');
  t.is(expand('\\$JOB'), '\\3');
  t.is(expand('${JOB}'), '${JOB}');
  t.is(expand('$$JOB$'), '$3$');
});

test('attributes of the machine are variables, longer names first', (t) => {
  t.is(expand('$username-$servername-$os-$osversion'), 'w1-x-linux-12');
});

test('an unknown variable stays', (t) => {
  t.is(expand('$HOME/$job'), '$HOME/$job');
});

test('a value is not expanded again', (t) => {
  t.is(
    expandPathVariables('$a', [
      ['a', '$b'],
      ['b', 'x'],
    ]),
    '$b',
  );
});

test('the processor is the machine where no user and server are stated', (t) => {
  t.is(expandPathVariables('$PROC', getPathVariables({ ...place, attributes: {} })), 'lab/m1');
});

test('a path stays below its root', (t) => {
  t.is(keepInside('a/b.txt'), 'a/b.txt');
  t.is(keepInside('./a//b/../c/'), 'a/c');
  t.is(keepInside('/tmp/x'), 'tmp/x');
  t.is(keepInside('..a/b..'), '..a/b..');
  t.is(keepInside(''), '.');
  t.is(keepInside('a/..'), '.');
});

test('a path that leaves its root is refused, even if it comes back', (t) => {
  for (const path of ['..', '../a', 'a/../../b', '/..', '../playpen/a', 'a\0b'])
    t.is(keepInside(path), undefined, path);
});
