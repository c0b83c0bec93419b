// Placing by subtraction: nothing is over-committed, and a task that asks for much waits for no younger one.
import test from 'ava';
import fc from 'fast-check';
import { type BagMachine, type BagQueue, type HeldPart, dispatchReady } from '@mutirao/core/bag';
import { emptyRequest, FreeResources, type ResourceCapacity, type ResourceRequest } from '@mutirao/core/resources';
import { runs } from '@mutirao/testkit';

const kinds = ['a', 'b'];

const anyCapacity: fc.Arbitrary<ResourceCapacity> = fc.record({
  memory: fc.integer({ min: 0, max: 64 }),
  gpus: fc
    .array(fc.constantFrom(...kinds), { maxLength: 3 })
    .map((list) => list.map((kind, index) => ({ id: String(index), kind }))),
  named: fc.dictionary(fc.constantFrom('x', 'y'), fc.integer({ min: 1, max: 6 })),
});

/** Of the wide task; those of the others are smaller. */
const anyRequest = (memoryMax: number): fc.Arbitrary<ResourceRequest> =>
  fc.record(
    {
      memory: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: memoryMax })),
      gpus: fc.constantFrom(0, 0, 0, 300, 500, 1000, 2000),
      gpuKind: fc.constantFrom(...kinds),
      named: fc.dictionary(fc.constantFrom('x', 'y'), fc.integer({ min: 1, max: 4 }), { maxKeys: 1 }),
    },
    { requiredKeys: ['memory', 'gpus', 'named'] },
  );

interface DrawnQueue {
  readonly processors: number;
  readonly request: ResourceRequest;
}

interface Drawn {
  readonly machines: readonly { readonly processors: number; readonly capacity: ResourceCapacity }[];
  /** Small tasks that never run out; the first may be of processors alone. */
  readonly others: readonly DrawnQueue[];
  readonly wide: DrawnQueue;
  readonly picks: readonly number[];
}

const anyDrawn: fc.Arbitrary<Drawn> = fc.record({
  machines: fc.array(fc.record({ processors: fc.integer({ min: 1, max: 16 }), capacity: anyCapacity }), {
    minLength: 1,
    maxLength: 3,
  }),
  others: fc.array(
    fc.record({
      processors: fc.constantFrom(1, 1, 1, 2, 3),
      request: fc.oneof(fc.constant(emptyRequest), anyRequest(12), anyRequest(12)),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  wide: fc.record({ processors: fc.integer({ min: 1, max: 8 }), request: anyRequest(60) }),
  picks: fc.array(fc.nat(), { minLength: 1, maxLength: 60 }),
});

interface Replica extends HeldPart {
  readonly queue: Queue;
}

interface Queue extends BagQueue {
  readyCount: number;
  readonly request: ResourceRequest;
}

interface Machine extends BagMachine {
  heldProcessors: number;
  readonly resources: FreeResources;
  readonly replicas: Set<Replica>;
}

function openQueue({ processors, request }: DrawnQueue, readyCount: number): Queue {
  const isEmpty = request.memory === 0 && request.gpus === 0 && Object.keys(request.named).length === 0;
  return { readyCount, processors, request, resources: isEmpty ? undefined : request, scheduler: 'workqueue' };
}

function canRun(queue: Queue, machine: Machine): boolean {
  return machine.processors >= queue.processors && machine.resources.countFittingAtAll(queue.request) >= 1;
}

/** Places as a broker does, and checks that each task that is placed has all that it asks for. */
function dispatch(machines: readonly Machine[], queues: readonly Queue[]): void {
  dispatchReady<Machine, Queue>(machines, queues, {
    matches: canRun,
    prefetchDepth: () => 0,
    listHeld: (machine) => machine.replicas,
    dispatch: (machine, queue, countMax) => {
      const count = Math.min(countMax, queue.readyCount);
      for (let index = 0; index < count; index++) {
        const { processors, resources } = queue;
        const assignment = resources && machine.resources.take(resources);
        if (resources !== undefined && assignment === undefined) throw new Error('placed where it does not fit');
        machine.replicas.add({ queue, processors, assignment });
        machine.heldProcessors += processors;
        queue.readyCount--;
        if (machine.heldProcessors > machine.processors) throw new Error('more processors than there are');
      }
      machine.resources.check('the machine');
      return count;
    },
  });
}

function end(machine: Machine, replica: Replica): void {
  machine.replicas.delete(replica);
  machine.heldProcessors -= replica.processors;
  if (replica.assignment !== undefined) machine.resources.release(replica.assignment);
}

function openMachines(drawn: Drawn): Machine[] {
  return drawn.machines.map(({ processors, capacity }) => ({
    processors,
    heldProcessors: 0,
    resources: new FreeResources(capacity),
    replicas: new Set(),
  }));
}

test('a task that asks for much starts when all have ended that were there before, whatever comes after it', (t) => {
  let waited = 0;
  fc.assert(
    fc.property(anyDrawn, (drawn) => {
      const machines = openMachines(drawn);
      const others = drawn.others.map((queue) => openQueue(queue, 1000));
      dispatch(machines, others);
      const wide = openQueue(drawn.wide, 1);
      if (!machines.some((machine) => canRun(wide, machine))) return true;
      const before = new Set(machines.flatMap(({ replicas }) => [...replicas]));
      let pick = 0;
      // As many steps as it takes until nothing is left of what was there; younger tasks may end in between.
      while (wide.readyCount > 0) {
        dispatch(machines, [wide, ...others]);
        if (wide.readyCount === 0) return true;
        waited++;
        const running = machines.flatMap((machine) => [...machine.replicas].map((replica) => ({ machine, replica })));
        if (!running.some(({ replica }) => before.has(replica))) return false;
        const isYounger = pick < drawn.picks.length && (drawn.picks[pick] ?? 0) % 3 === 0;
        const open = running.filter(({ replica }) => isYounger !== before.has(replica));
        const chosen = (open.length === 0 ? running : open)[
          (drawn.picks[pick % drawn.picks.length] ?? 0) % Math.max(1, open.length)
        ];
        if (chosen !== undefined) end(chosen.machine, chosen.replica);
        pick++;
      }
      return true;
    }),
    runs(1128, 1500),
  );
  t.true(waited > 1000, `it waited ${waited} times in all`);
});

test('tasks of processors alone are placed as if machines had nothing else', (t) => {
  fc.assert(
    fc.property(anyDrawn, (drawn) => {
      const plain = drawn.others.map(({ processors }) => ({ processors, request: emptyRequest }));
      const placedOn = (machines: readonly Machine[]): readonly number[] => {
        dispatch(
          machines,
          plain.map((queue) => openQueue(queue, 5)),
        );
        return machines.map(({ heldProcessors }) => heldProcessors);
      };
      const bare = {
        ...drawn,
        machines: drawn.machines.map(({ processors }) => ({
          processors,
          capacity: { memory: 0, gpus: [], named: {} },
        })),
      };
      t.deepEqual(placedOn(openMachines(drawn)), placedOn(openMachines(bare)));
    }),
    runs(1129, 300),
  );
});

test('a processor idles only if no ready task would fit, except for processors kept for an earlier one', (t) => {
  fc.assert(
    fc.property(anyDrawn, (drawn) => {
      const machines = openMachines(drawn);
      const [first] = drawn.others.map((queue) => openQueue(queue, 1000));
      if (first === undefined) return true;
      dispatch(machines, [first]);
      return machines.every(
        (machine) =>
          !canRun(first, machine) ||
          machine.processors - machine.heldProcessors < first.processors ||
          !machine.resources.fits(first.request),
      );
    }),
    runs(1130, 300),
  );
  t.pass();
});
