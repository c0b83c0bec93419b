import test from 'ava';
import { type BagMachine, type BagQueue, countStartable, dispatchReady } from '@mutirao/core/bag';

interface Machine extends BagMachine {
  readonly name: string;
  heldProcessors: number;
}

interface Queue extends BagQueue {
  readonly name: string;
  readyCount: number;
  readonly alternatives?: Queue[];
}

function aMachine(name: string, processors: number, heldProcessors = 0): Machine {
  return { name, processors, heldProcessors };
}

function aQueue(name: string, readyCount: number, processors = 1): Queue {
  return { name, readyCount, processors, scheduler: 'workqueue' };
}

/**
 * Places and returns lines such as `a 3 of x`; `depth` is that of every queue, a queue named as a machine runs there
 * alone.
 */
function dispatch(
  machines: Machine[],
  queues: Queue[],
  depth = 0,
): { readonly lines: string[]; readonly kept: string[] } {
  const lines: string[] = [];
  const kept = dispatchReady(machines, queues, {
    matches: (queue, machine) =>
      machine.processors >= queue.processors && (queue.name.length > 1 || queue.name === machine.name),
    prefetchDepth: () => depth,
    listAlternatives: ({ alternatives = [] }) => alternatives,
    countSoonerBefore: (queue, _alternative, among) =>
      among.reduce((sum, machine) => sum + (queue.name === machine.name ? countStartable(machine, queue) : 0), 0),
    dispatch: (machine, queue, countMax) => {
      const count = Math.min(countMax, queue.readyCount);
      queue.readyCount -= count;
      machine.heldProcessors += count * queue.processors;
      lines.push(`${machine.name} ${count} of ${queue.name}`);
      return count;
    },
  });
  return { lines, kept: [...kept].map((machine) => machine.name) };
}

test('each free processor gets a task, in the order of machines and queues', (t) => {
  t.deepEqual(
    dispatch([aMachine('a', 2), aMachine('b', 4, 3), aMachine('c', 1, 1)], [aQueue('xx', 2), aQueue('yy', 5)]).lines,
    ['a 2 of xx', 'b 1 of yy'],
  );
});

test('free processors come before queues of machines, and what is left is shared out evenly', (t) => {
  t.deepEqual(dispatch([aMachine('a', 1), aMachine('b', 1), aMachine('c', 1)], [aQueue('xx', 3)], 10).lines, [
    'a 1 of xx',
    'b 1 of xx',
    'c 1 of xx',
  ]);
  t.deepEqual(dispatch([aMachine('a', 1), aMachine('b', 1)], [aQueue('xx', 8)], 10).lines, ['a 4 of xx', 'b 4 of xx']);
  t.deepEqual(dispatch([aMachine('a', 1), aMachine('b', 1)], [aQueue('xx', 80)], 10).lines, [
    'a 11 of xx',
    'b 11 of xx',
  ]);
});

test('a full queue gets nothing', (t) => {
  t.deepEqual(dispatch([aMachine('a', 1, 4)], [aQueue('xx', 8)], 3).lines, []);
  t.deepEqual(dispatch([aMachine('a', 1, 3)], [aQueue('xx', 8)], 3).lines, ['a 1 of xx']);
});

test('idle machines that no queue may use do not keep tasks from waiting at those that it may', (t) => {
  t.deepEqual(dispatch([aMachine('a', 1), aMachine('b', 8), aMachine('c', 8)], [aQueue('a', 8)], 3).lines, [
    'a 4 of a',
  ]);
});

test('a queue that a machine does not match leaves it to the next', (t) => {
  t.deepEqual(dispatch([aMachine('a', 2)], [aQueue('b', 5), aQueue('yy', 1)]).lines, ['a 1 of yy']);
});

test('processors that are too few for a wide task are kept for it, at no more machines than it has tasks', (t) => {
  const wide = dispatch(
    [aMachine('a', 4, 2), aMachine('b', 4, 2), aMachine('c', 1)],
    [aQueue('wide', 1, 4), aQueue('yy', 9)],
  );
  t.deepEqual(wide, { lines: ['b 2 of yy', 'c 1 of yy'], kept: ['a'] });
});

test('nothing is kept from other tasks of the same bag, and what is kept is kept from other bags', (t) => {
  const lines: string[] = [];
  const queues = [aQueue('wide', 1, 4), aQueue('own', 1), aQueue('others', 9)];
  const kept = dispatchReady<Machine, Queue>([aMachine('a', 4, 2)], queues, {
    matches: () => true,
    prefetchDepth: () => 0,
    isOfSameBag: (one, other) => (one.name === 'others') === (other.name === 'others'),
    dispatch: (machine, queue, countMax) => {
      const count = Math.min(countMax, queue.readyCount);
      queue.readyCount -= count;
      machine.heldProcessors += count * queue.processors;
      lines.push(`${count} of ${queue.name}`);
      return count;
    },
  });
  t.deepEqual(lines, ['1 of own']);
  t.is(kept.size, 1);
});

/** Tasks that run on the machine of that name, or with a number of processors on any. */
function withAlternative(name: string, readyCount: number, processors: number): Queue {
  const queue: Queue = { ...aQueue(name, readyCount), alternatives: [] };
  queue.alternatives?.push({
    ...aQueue(`${name} else`, 0, processors),
    get readyCount() {
      return queue.readyCount;
    },
    set readyCount(count) {
      queue.readyCount = count;
    },
  });
  return queue;
}

test('an alternative is taken by those tasks only for which no machine has the first request free', (t) => {
  t.deepEqual(dispatch([aMachine('a', 4), aMachine('b', 2)], [withAlternative('b', 3, 3)]).lines, [
    'a 1 of b else',
    'b 2 of b',
  ]);
  t.deepEqual(dispatch([aMachine('a', 4), aMachine('b', 2)], [withAlternative('b', 2, 3)]).lines, ['b 2 of b']);
});

test('an alternative never waits in the queue of a machine', (t) => {
  t.deepEqual(dispatch([aMachine('a', 4)], [withAlternative('b', 9, 2)], 8).lines, ['a 2 of b else']);
});

test('tasks whose first request others have taken take their alternative after all', (t) => {
  t.deepEqual(dispatch([aMachine('a', 4), aMachine('b', 2)], [aQueue('b', 2), withAlternative('b', 2, 2)]).lines, [
    'b 2 of b',
    'a 2 of b else',
  ]);
});

test('a machine is kept for an alternative where no machine does for the first request', (t) => {
  const few = dispatch([aMachine('a', 4, 2)], [withAlternative('b', 1, 3), aQueue('yy', 9)]);
  t.deepEqual(few, { lines: [], kept: ['a'] });
  const other = dispatch([aMachine('a', 4, 2), aMachine('b', 1, 1)], [withAlternative('b', 1, 3), aQueue('yy', 9)]);
  t.deepEqual(other, { lines: ['a 2 of yy'], kept: [] });
});
