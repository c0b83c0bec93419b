import test from 'ava';
import { keepLast } from '@mutirao/runtime/program';

test('of an option that stands twice the later one is kept, with its value', (t) => {
  t.deepEqual(keepLast(['--home', '/a', '--leash', '--trace', 'x', '--home', '/b', '--leash']), [
    '--trace',
    'x',
    '--home',
    '/b',
    '--leash',
  ]);
  t.deepEqual(keepLast(['--slurm-flags', '-p short', '--id', 'a']), ['--slurm-flags', '-p short', '--id', 'a']);
});

test('options that gather values, and words after --, are kept', (t) => {
  t.deepEqual(keepLast(['--provider', 'a=h:1', '--provider', 'b=h:2']), ['--provider', 'a=h:1', '--provider', 'b=h:2']);
  t.deepEqual(keepLast(['--id', 'a', '--', '--id', 'b', '--id', 'c']), ['--id', 'a', '--', '--id', 'b', '--id', 'c']);
});
