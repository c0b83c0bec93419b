import test from 'ava';

import { aJobSpec } from '@mutirao/testkit';
import { listNeeds } from '../../src/server/task-needs.ts';

const memory = (memoryBytes: number) => ({ memoryBytes, gpuThousandths: 0, gpuKind: '', named: {} });

test('a task holds what its group asks for, else what its job does', (t) => {
  const [group] = aJobSpec().groups;
  const needs = listNeeds(
    aJobSpec({
      processors: 2,
      resources: memory(5),
      groups: [group!, { ...group!, processors: 7, resources: memory(9) }],
    }),
  );
  t.deepEqual(needs(9), { processors: 2, memory_bytes: 5, gpu_thousandths: 0 });
  t.deepEqual(needs(10), { processors: 7, memory_bytes: 9, gpu_thousandths: 0 });
  t.deepEqual(needs(99), needs(9), 'a group that came later');
  t.is(listNeeds(aJobSpec({ processors: 16, gang: true }))(0).processors, 1);
});
