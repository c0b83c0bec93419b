import test from 'ava';
import { decideByMajority, getMajority, getVotesMax } from '@mutirao/core/trust';

const votes = (digests: string) => [...digests].map((digest, index) => ({ voter: `m${index}`, digest }));

test('a result is accepted as soon as more than half of the votes that were asked for agree', (t) => {
  t.deepEqual(decideByMajority(votes('aba'), 3), { kind: 'accepted', digest: 'a' });
  t.deepEqual(decideByMajority(votes('aa'), 3), { kind: 'accepted', digest: 'a' });
  t.deepEqual(decideByMajority(votes('a'), 1), { kind: 'accepted', digest: 'a' });
  t.deepEqual([1, 2, 3, 4, 5].map(getMajority), [1, 2, 2, 3, 3]);
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

test('a task without any agreement is given up after a bounded number of votes', (t) => {
  t.is(decideByMajority(votes('abcd'), 2).kind, 'open');
  t.deepEqual(decideByMajority(votes('abcde'), 2), { kind: 'deadlocked' });
  t.deepEqual([1, 2, 3].map(getVotesMax), [3, 5, 7]);
});

test('no vote is asked for that could not make a majority any more: there are never more than twice as many as were asked for, and one', (t) => {
  for (let voteCount = 1; voteCount <= 15; voteCount++) {
    let [cast, decision] = [0, decideByMajority([], voteCount)];
    while (decision.kind === 'open') {
      cast += decision.votesMissing;
      decision = decideByMajority(
        Array.from({ length: cast }, (_, index) => ({ voter: `m${index}`, digest: `${index}` })),
        voteCount,
      );
    }
    t.is(decision.kind, voteCount === 1 ? 'accepted' : 'deadlocked');
    t.true(cast <= getVotesMax(voteCount), `vote:${voteCount} gave up after ${cast} results`);
  }
  t.deepEqual(decideByMajority(votes('abcdefghijkl'), 7), { kind: 'open', votesMissing: 3 });
  t.deepEqual(decideByMajority(votes('abcdefghijklm'), 7), { kind: 'deadlocked' });
  t.deepEqual(decideByMajority(votes('abcdefghijkla'), 7), { kind: 'open', votesMissing: 2 });
});
