import test from 'ava';
import { Prng } from '@mutirao/core/shared';
import { LeastTree } from '../../../src/queue/least-tree.ts';

for (const size of [1, 8, 9, 64, 65, 700]) {
  test(`a tree of ${size} slots finds the first pair below either bound, as a walk through all does`, (t) => {
    const prng = new Prng(`least ${size}`);
    const tree = new LeastTree(size);
    const pairs = Array.from({ length: tree.size }, () => [Infinity, Infinity] as [number, number]);
    for (let step = 0; step < 500; step += 1) {
      const slot = prng.below(tree.size);
      const pair: [number, number] = prng.below(3) === 0 ? [Infinity, Infinity] : [prng.below(1000), prng.below(1000)];
      pairs[slot] = pair;
      tree.set(slot, ...pair);
      const [firstMax, secondMax] = [prng.below(200), prng.below(100)];
      t.is(
        tree.findFirst(firstMax, secondMax),
        pairs.findIndex(([first, second]) => first <= firstMax || second <= secondMax),
      );
      t.is(
        tree.findFirst(Infinity, -1),
        pairs.findIndex(([first]) => first < Infinity),
      );
      t.deepEqual(
        [tree.leastFirst, tree.leastSecond],
        [Math.min(...pairs.map(([first]) => first)), Math.min(...pairs.map(([, second]) => second))],
      );
    }
  });
}
