// A provider that goes on alone packs leased tasks by what they ask for, as their broker would.
import test from 'ava';
import { chooseLeased, findFreeResources, openLease } from '../../../../src/machines/provider/spooled-lease.ts';
import { emptyRequest } from '@mutirao/core/resources';
import { aMachine } from '@mutirao/testkit';

const lease = openLease({
  sequence: 1,
  horizon: 1000,
  groups: [
    {
      replicas: [{ first: 10, count: 5 }],
      processors: 1,
      resources: { ...emptyRequest, memory: 20 },
      requirements: '',
      taskTime: 0,
      hasInputs: false,
    },
    { replicas: [{ first: 20, count: 5 }], processors: 1, requirements: '', taskTime: 0, hasInputs: false },
  ],
});
const facts = aMachine('p/a', { processors: 8, capacity: { memory: 64, gpus: [], named: {} } });

function choose(held: readonly number[]): readonly number[] {
  return chooseLeased(lease, facts, { processors: 6, resources: findFreeResources(lease, facts, held), now: 0 });
}

test('tasks are chosen until memory is used up, and then those that ask for none', (t) => {
  t.deepEqual(choose([]), [10, 11, 12, 20, 21, 22]);
  t.deepEqual(choose([13, 14]), [10, 20, 21, 22, 23, 24]);
});

test('next to replicas that are not of the lease, no task is chosen that asks for more than processors', (t) => {
  t.deepEqual(choose([99]), [20, 21, 22, 23, 24]);
});
