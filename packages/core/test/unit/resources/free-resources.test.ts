import test from 'ava';
import {
  describeGpus,
  emptyCapacity,
  emptyRequest,
  FreeResources,
  isEmptyRequest,
  isSameCapacity,
  keyOfRequest,
  listAmounts,
  type ResourceCapacity,
  type ResourceRequest,
} from '@mutirao/core/resources';

const gibibyte = 2 ** 30;
const node: ResourceCapacity = {
  memory: 64 * gibibyte,
  gpus: [
    { id: '0', kind: 'a100' },
    { id: '1', kind: 'a100' },
    { id: '2', kind: 't4' },
  ],
  named: { licence: 3 },
};

function asks(some: Partial<ResourceRequest>): ResourceRequest {
  return { ...emptyRequest, ...some };
}

test('memory and named resources are taken by subtraction and given back', (t) => {
  const free = new FreeResources(node);
  const wanted = asks({ memory: 24 * gibibyte, named: { licence: 1 } });
  t.is(free.countFitting(wanted), 2);
  const first = free.take(wanted);
  const second = free.take(wanted);
  t.truthy(second);
  t.is(free.take(wanted), undefined);
  t.deepEqual(free.findShortage(wanted), {
    kind: 'memory',
    name: '',
    needed: 24 * gibibyte,
    free: 16 * gibibyte,
    total: 64 * gibibyte,
  });
  free.release(first ?? t.fail());
  t.is(free.memory, 40 * gibibyte);
  t.is(free.amountOf('licence'), 2);
});

test('fractions share a device with the smallest rest that is large enough, so that whole devices stay free', (t) => {
  const free = new FreeResources(node);
  const half = asks({ gpus: 500 });
  t.deepEqual(free.take(half)?.devices, [{ deviceIndex: 0, share: 500 }]);
  t.deepEqual(free.take(asks({ gpus: 300 }))?.devices, [{ deviceIndex: 0, share: 300 }]);
  t.deepEqual(free.take(half)?.devices, [{ deviceIndex: 1, share: 500 }]);
  t.deepEqual(free.devices, [200, 500, 1000]);
  t.is(free.countFitting(asks({ gpus: 1000 })), 1);
  t.is(free.countFitting(asks({ gpus: 600 })), 1, 'the rests of two devices are not one device');
  t.deepEqual(free.findShortage(asks({ gpus: 2000 })), {
    kind: 'gpus',
    name: '',
    needed: 2000,
    free: 1000,
    total: 3000,
  });
});

test('several devices are whole ones of one task, and a kind is kept to', (t) => {
  const free = new FreeResources(node);
  t.is(free.countFitting(asks({ gpus: 2000, gpuKind: 'a100' })), 1);
  t.is(free.countFitting(asks({ gpus: 2000, gpuKind: 't4' })), 0);
  t.deepEqual(free.take(asks({ gpus: 1000, gpuKind: 't4' }))?.devices, [{ deviceIndex: 2, share: 1000 }]);
  t.deepEqual(free.take(asks({ gpus: 2000 }))?.devices, [
    { deviceIndex: 0, share: 1000 },
    { deviceIndex: 1, share: 1000 },
  ]);
  t.false(free.fits(asks({ gpus: 1 })));
});

test('a machine that states nothing has nothing, and fits what asks for nothing', (t) => {
  const free = new FreeResources(emptyCapacity);
  t.is(free.countFitting(emptyRequest), Infinity);
  t.false(free.fits(asks({ memory: 1 })));
  t.false(free.fits(asks({ gpus: 1 })));
  t.false(free.fits(asks({ named: { constructor: 1 } })));
  t.is(free.findShortage(asks({ named: { constructor: 1 } }))?.total, 0);
});

test('the part that is kept for a task that does not fit is the rest of each resource', (t) => {
  const free = new FreeResources(node);
  free.take(asks({ memory: 60 * gibibyte, gpus: 3000 }));
  const kept = free.takeUpTo(asks({ memory: 8 * gibibyte, gpus: 1000, named: { licence: 2 } }));
  t.deepEqual(kept, { memory: 4 * gibibyte, devices: [], named: { licence: 2 } });
  t.is(free.memory, 0);
  free.release(kept);
  t.is(free.memory, 4 * gibibyte);
});

test('an assignment is taken again only where exactly that is free', (t) => {
  const free = new FreeResources(node);
  const taken = free.take(asks({ gpus: 700, memory: gibibyte })) ?? t.fail();
  const restored = new FreeResources(node);
  t.true(restored.takeAgain(taken));
  t.deepEqual(restored.devices, free.devices);
  t.false(restored.takeAgain(taken), 'the device has too little left');
  t.is(restored.memory, free.memory, 'and nothing of it is taken');
});

test('equal requests have equal keys, whatever the order of their names', (t) => {
  const one = asks({ memory: 1, named: { a: 1, b: 2 } });
  t.is(keyOfRequest(one), keyOfRequest(asks({ named: { b: 2, a: 1 }, memory: 1 })));
  t.not(keyOfRequest(one), keyOfRequest(asks({ memory: 1, named: { a: 1, b: 3 } })));
  t.not(keyOfRequest(asks({ gpus: 1000 })), keyOfRequest(asks({ gpus: 1000, gpuKind: 'a100' })));
  t.is(keyOfRequest(undefined), keyOfRequest(asks({})));
  t.true(isEmptyRequest(asks({})));
  t.false(isEmptyRequest(asks({ named: { a: 1 } })));
});

test('machines have the same where each device is the same', (t) => {
  t.true(isSameCapacity(node, { ...node, gpus: [...node.gpus] }));
  t.false(isSameCapacity(node, { ...node, gpus: node.gpus.slice(1) }));
  t.false(isSameCapacity(node, undefined));
});

test('a request reads as a person would say it', (t) => {
  t.deepEqual(listAmounts(asks({ memory: 40 * gibibyte, gpus: 500, named: { scratch: 7, licence: 2 } })), [
    '40 GiB of memory',
    '0.5 GPU',
    '2 licence',
    '7 scratch',
  ]);
  t.deepEqual(listAmounts(emptyRequest), []);
  t.is(describeGpus(2000, 'a100'), '2 a100 GPUs');
  t.is(describeGpus(1000), '1 GPU');
});
