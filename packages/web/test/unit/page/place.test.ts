// Addresses of the page and the titles of its tabs.
import test from 'ava';
import { getDocumentTitle, isPlacePath, readPlace } from '../../../client/src/model/place.ts';

test('each place has a title of its own, so that tabs and the history are distinguishable', (t) => {
  t.is(getDocumentTitle(readPlace('/')), 'Now · Mutirao');
  t.is(getDocumentTitle(readPlace('/jobs')), 'Jobs · Mutirao');
  t.is(getDocumentTitle(readPlace('/jobs/42')), 'Job 42 · Mutirao');
  t.is(getDocumentTitle(readPlace('/reservations')), 'Reservations · Mutirao');
});

test('only paths of places are known', (t) => {
  for (const path of ['/', '/jobs', '/jobs/', '/jobs/42', '/submit']) t.true(isPlacePath(path), path);
  for (const path of ['/nosuch', '/jobs/x', '/jobs/0', '/submit/3']) t.false(isPlacePath(path), path);
});
