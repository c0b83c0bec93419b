import test from 'ava';
import { decideByMajority, majorityOf, votesMaxOf } from '@mutirao/core/trust';

const votes = (digests: string) => [...digests].map((digest, index) => ({ voter: `m${index}`, digest }));

test('a result is accepted as soon as more than half of the votes that were asked for agree', (t) => {
  t.deepEqual(decideByMajority(votes('aba'), 3), { kind: 'accepted', digest: 'a' });
  t.deepEqual(decideByMajority(votes('aa'), 3), { kind: 'accepted', digest: 'a' });
  t.deepEqual(decideByMajority(votes('a'), 1), { kind: 'accepted', digest: 'a' });
  t.deepEqual([1, 2, 3, 4, 5].map(majorityOf), [1, 2, 2, 3, 3]);
});

test('as many further votes are asked for as the best result lacks', (t) => {
  t.deepEqual(decideByMajority([], 3), { kind: 'open', votesMissing: 2 });
  t.deepEqual(decideByMajority(votes('a'), 5), { kind: 'open', votesMissing: 2 });
  t.deepEqual(decideByMajority(votes('abb'), 5), { kind: 'open', votesMissing: 1 });
});

test('a tie of two votes gets a third', (t) => {
  t.deepEqual(decideByMajority(votes('ab'), 2), { kind: 'open', votesMissing: 1 });
  t.deepEqual(decideByMajority(votes('aba'), 2), { kind: 'accepted', digest: 'a' });
});

test('a task on which nobody agrees is given up after a bounded number of votes', (t) => {
  t.is(decideByMajority(votes('abcd'), 2).kind, 'open');
  t.deepEqual(decideByMajority(votes('abcde'), 2), { kind: 'deadlocked' });
  t.deepEqual([1, 2, 3].map(votesMaxOf), [3, 5, 7]);
});
