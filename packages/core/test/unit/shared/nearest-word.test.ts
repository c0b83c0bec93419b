import test from 'ava';
import { findNearestWord } from '@mutirao/core/shared';

const words = ['remote', 'requirements', 'init', 'final', 'task'];

test('a slip of one letter in three finds its word', (t) => {
  t.is(findNearestWord('remoet', words), 'remote');
  t.is(findNearestWord('REQUIREMENT', words), 'requirements');
  t.is(findNearestWord('finall', words), 'final');
  t.is(findNearestWord('taks', words), 'task');
});

test('a word that is like none finds nothing', (t) => {
  t.is(findNearestWord('banana', words), undefined);
  t.is(findNearestWord('', words), undefined);
});

test('of equally near words the first wins', (t) => {
  t.is(findNearestWord('cat', ['bat', 'car']), 'bat');
});
