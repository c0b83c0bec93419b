import test from 'ava';
import { Prng } from '@mutirao/core/shared';
import { PlaceHeap } from '../../../src/queue/place-heap.ts';
import { PlanEntry } from '../../../src/queue/request-list.ts';

test('a heap knows the earliest place while entries come, move and go', (t) => {
  const prng = new Prng('places');
  const heap = new PlaceHeap();
  const inside = new Set<PlanEntry>();
  const entries = Array.from({ length: 200 }, (_, id) => new PlanEntry(id, 0, { id, width: 1, walltime: 1 }));
  const earliest = (): number => Math.min(Infinity, ...[...inside].map(({ place }) => place));
  for (let step = 0; step < 3000; step += 1) {
    const entry = entries[prng.below(entries.length)] as PlanEntry;
    if (prng.below(3) > 0) {
      entry.place = prng.below(500);
      heap.put(entry);
      inside.add(entry);
    } else {
      heap.remove(entry);
      inside.delete(entry);
    }
    t.is(heap.earliest, earliest());
    if (step % 10 > 0) continue;
    const taken = heap.take(250);
    t.is(taken?.place, earliest() <= 250 ? earliest() : undefined);
    if (taken !== undefined) inside.delete(taken);
  }
});
