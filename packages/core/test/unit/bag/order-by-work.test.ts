// In which order the queues of one bag are served, so that it packs well.
import test from 'ava';
import { type BagMachine, type BagQueue, orderByWork } from '@mutirao/core/bag';
import { emptyRequest, FreeResources } from '@mutirao/core/resources';

interface Queue extends BagQueue {
  readonly name: string;
}

const machine: BagMachine = {
  processors: 16,
  heldProcessors: 0,
  resources: new FreeResources({ memory: 64, gpus: [{ id: '0', kind: '' }], named: {} }),
};

function aQueue(
  name: string,
  readyCount: number,
  needs: { processors?: number; memory?: number; gpus?: number },
): Queue {
  const { processors = 1, memory = 0, gpus = 0 } = needs;
  return { name, readyCount, processors, resources: { ...emptyRequest, memory, gpus }, scheduler: 'workqueue' };
}

function order(...queues: Queue[]): string {
  return orderByWork(queues, [machine])
    .map(({ name }) => name)
    .join(' ');
}

test('tasks that need GPUs go first, though there are few of them', (t) => {
  t.is(order(aQueue('many', 900, { processors: 16 }), aQueue('gpu', 1, { gpus: 500 })), 'gpu many');
});

test('the queue with the most work goes before the others, by the largest share of a machine that a task takes', (t) => {
  t.is(order(aQueue('narrow', 10, {}), aQueue('wide', 2, { processors: 8 })), 'wide narrow');
  t.is(order(aQueue('narrow', 20, {}), aQueue('wide', 2, { processors: 8 })), 'narrow wide');
  t.is(order(aQueue('narrow', 10, {}), aQueue('large', 2, { memory: 32 })), 'large narrow');
});

test('queues with as much work stay in the order of their submission', (t) => {
  t.is(order(aQueue('one', 4, {}), aQueue('other', 4, {}), aQueue('third', 4, {})), 'one other third');
});
