import test from 'ava';
import { findHeuristic, heuristicNames, staticHeuristic } from '@mutirao/core/requests';

test('a heuristic is found by its name', (t) => {
  t.is(findHeuristic('static'), staticHeuristic);
  t.deepEqual(heuristicNames, ['static', 'initial', 'adaptive', 'mixed']);
});

test('an unknown name finds nothing', (t) => {
  t.is(findHeuristic('clairvoyant'), undefined);
});
