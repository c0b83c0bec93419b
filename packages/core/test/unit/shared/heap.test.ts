import test from 'ava';
import { Heap } from '@mutirao/core/shared';

const isLess = (one: number, other: number): boolean => one < other;

test('elements come out in order, whatever the order in which they went in', (t) => {
  const heap = new Heap(isLess);
  const values = Array.from({ length: 200 }, (_, index) => (index * 7919) % 211);
  for (const value of values) heap.push(value);
  t.is(heap.size, 200);
  t.is(heap.first, Math.min(...values));
  t.deepEqual(
    values.map(() => heap.pop()),
    [...values].sort((a, b) => a - b),
  );
  t.is(heap.pop(), undefined);
});

test("a heap of another heap's elements is a copy", (t) => {
  const heap = new Heap(isLess);
  for (const value of [5, 3, 9, 1]) heap.push(value);
  const copy = new Heap(isLess, heap.elements);
  heap.pop();
  t.deepEqual([heap.first, copy.first, copy.size], [3, 1, 4]);
});
