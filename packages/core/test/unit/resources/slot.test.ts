import test from 'ava';
import {
  countSlots,
  countSlotsOnBest,
  describeSlot,
  emptyRequest,
  groupNodes,
  holdsSlot,
  packSlot,
  shapeSlot,
  type NodeShape,
} from '@mutirao/core/resources';

const gibibyte = 2 ** 30;
const mebibyte = 2 ** 20;

function aNode(node: Partial<NodeShape> = {}): NodeShape {
  return { count: 1, processors: 8, memory: 16 * gibibyte, gpus: {}, ...node };
}

test('a task of one processor and counted resources alone needs no slot', (t) => {
  t.is(shapeSlot(1, undefined), undefined);
  t.is(shapeSlot(1, { ...emptyRequest, named: { licence: 1 } }), undefined);
  t.deepEqual(shapeSlot(4, undefined), { processors: 4, memory: 0, gpus: 0 });
});

test('memory is rounded up, so that tasks that differ by little share a shape, and part of a GPU is a whole one', (t) => {
  const request = { memory: 1000 * mebibyte, gpus: 500, gpuKind: 'a100', named: {} };
  t.deepEqual(shapeSlot(2, request), { processors: 2, memory: 1024 * mebibyte, gpus: 1, gpuKind: 'a100' });
  t.deepEqual(shapeSlot(1, { ...emptyRequest, memory: 1 }), { processors: 1, memory: 64 * mebibyte, gpus: 0 });
});

test('memory is a whole number of mebibytes for each processor, so that rounding it changes no count of slots', (t) => {
  const slot = shapeSlot(3, { ...emptyRequest, memory: 1000 * mebibyte });
  t.deepEqual(slot, { processors: 3, memory: 1026 * mebibyte, gpus: 0 });
});

test('an allocation with a limit of nodes has the slots of the best of them', (t) => {
  const slot = { processors: 1, memory: 0, gpus: 1 };
  const nodes = [aNode({ count: 8, gpus: { a100: 1 } }), aNode({ count: 2, gpus: { a100: 4 } })];
  t.is(countSlotsOnBest(nodes, slot, 1), 4);
  t.is(countSlotsOnBest(nodes, slot, 3), 9);
  t.is(countSlotsOnBest(nodes, slot, 0), 0);
  t.is(countSlotsOnBest(nodes, slot, Infinity), countSlots(nodes, slot));
});

test('tasks that share a GPU are asked for together, as many as a node has the rest for', (t) => {
  const slot = { processors: 2, memory: 4 * gibibyte, gpus: 1 };
  const nodes = [aNode({ gpus: { a100: 2 } })];
  t.deepEqual(packSlot(slot, 250, nodes), { processors: 8, memory: 16 * gibibyte, gpus: 1 });
  t.deepEqual(packSlot(slot, 250, [aNode({ processors: 7, gpus: { a100: 2 } })]), {
    processors: 6,
    memory: 12 * gibibyte,
    gpus: 1,
  });
  t.deepEqual(packSlot(slot, 1000, nodes), slot);
});

test('nodes have as many slots as the scarcest resource allows, and memory that is not known is hoped for', (t) => {
  const slot = { processors: 2, memory: 6 * gibibyte, gpus: 1, gpuKind: 'a100' };
  t.is(countSlots([aNode({ count: 3, gpus: { a100: 4 } })], slot), 6);
  t.is(countSlots([aNode({ memory: 0, gpus: { a100: 3 } })], slot), 3);
  t.is(countSlots([aNode({ gpus: { v100: 4 } })], slot), 0);
  t.is(countSlots([aNode({ gpus: { v100: 1, a100: 1 } })], { processors: 1, memory: 0, gpus: 2 }), 1);
});

test('a slot holds what is smaller in every respect, and of the kind that is asked for', (t) => {
  const large = { processors: 4, memory: gibibyte, gpus: 1, gpuKind: 'a100' };
  t.true(holdsSlot(large, { processors: 4, memory: 0, gpus: 1 }));
  t.false(holdsSlot(large, { processors: 4, memory: gibibyte, gpus: 1, gpuKind: 'v100' }));
  t.false(holdsSlot(large, { processors: 5, memory: 0, gpus: 0 }));
  t.false(holdsSlot(large, { processors: 1, memory: 2 * gibibyte, gpus: 0 }));
});

test('nodes that have the same are counted together', (t) => {
  const nodes = [aNode({ gpus: { a: 1, b: 2 } }), aNode(), aNode({ count: 2, gpus: { b: 2, a: 1 } })];
  t.deepEqual(
    groupNodes(nodes).map(({ count }) => count),
    [3, 1],
  );
});

test('a slot is described by what it has', (t) => {
  t.is(describeSlot({ processors: 1, memory: 0, gpus: 0 }), '1 processor');
  t.is(
    describeSlot({ processors: 4, memory: 8 * gibibyte, gpus: 1, gpuKind: 'a100' }),
    '4 processors, 8 GiB of memory and 1 a100 GPU',
  );
});
