import test from 'ava';
import { otherKeys, RepeatLimit } from '@mutirao/core/shared';

const rules = { perKey: 2, total: 5, window: 1000, keysMax: 3 };

test('the first lines of a key are written, and the rest of its window is counted', (t) => {
  const limit = new RepeatLimit(rules);
  t.deepEqual(limit.takeSkipped(0), []);
  t.deepEqual([limit.admit('a'), limit.admit('a'), limit.admit('a'), limit.admit('a')], [true, true, false, false]);
  t.deepEqual(limit.takeSkipped(999), []);
  t.deepEqual(limit.takeSkipped(1000), [{ key: 'a', count: 2 }]);
  t.true(limit.admit('a'));
});

test('all keys together write no more than the total', (t) => {
  const limit = new RepeatLimit(rules);
  limit.takeSkipped(0);
  const written = ['a', 'a', 'b', 'b', 'c', 'c', 'c'].filter((key) => limit.admit(key));
  t.is(written.length, 5);
});

test('keys beyond those that are remembered share one entry, so that memory is bounded', (t) => {
  const limit = new RepeatLimit({ ...rules, total: 1_000_000 });
  limit.takeSkipped(0);
  const written = Array.from({ length: 10_000 }, (_, index) => limit.admit(`key ${index}`)).filter(Boolean);
  t.is(written.length, rules.keysMax + rules.perKey);
  t.deepEqual(limit.takeSkipped(1000), [{ key: otherKeys, count: 10_000 - written.length }]);
});
