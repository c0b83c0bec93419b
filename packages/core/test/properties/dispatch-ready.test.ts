// What machines that may run none of the ready tasks change: nothing.
import test from 'ava';
import fc from 'fast-check';
import { type BagMachine, type BagQueue, dispatchReady } from '@mutirao/core/bag';
import { runs } from '@mutirao/testkit';

interface Drawn {
  readonly machines: readonly { readonly processors: number; readonly held: number; readonly kind: number }[];
  readonly queues: readonly {
    readonly ready: number;
    readonly processors: number;
    readonly kinds: readonly number[];
  }[];
  readonly depth: number;
}

const anyDrawn: fc.Arbitrary<Drawn> = fc.record({
  machines: fc.array(
    fc.record({
      processors: fc.integer({ min: 1, max: 8 }),
      held: fc.integer({ min: 0, max: 12 }),
      kind: fc.integer({ min: 0, max: 3 }),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  queues: fc.array(
    fc.record({
      ready: fc.integer({ min: 0, max: 30 }),
      processors: fc.integer({ min: 1, max: 3 }),
      kinds: fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  depth: fc.integer({ min: 0, max: 6 }),
});

/** Places on those of the machines that `isHere` keeps; answers in lines of what was placed where, and who is kept. */
function place(
  { machines, queues, depth }: Drawn,
  isHere: (kind: number) => boolean,
): { readonly lines: readonly string[]; readonly asked: number } {
  const lines: string[] = [];
  let asked = 0;
  const drawn = machines
    .map(({ processors, held, kind }, index) => ({ name: `m${index}`, processors, heldProcessors: held, kind }))
    .filter(({ kind }) => isHere(kind));
  const waiting = queues.map(
    (
      { ready, processors, kinds },
      index,
    ): BagQueue & { readyCount: number; readonly name: string; readonly kinds: readonly number[] } => ({
      name: `q${index}`,
      readyCount: ready,
      processors,
      kinds,
      scheduler: 'workqueue',
    }),
  );
  const kept = dispatchReady<
    BagMachine & { heldProcessors: number; readonly name: string; readonly kind: number },
    (typeof waiting)[number]
  >(drawn, waiting, {
    matches: (queue, machine) => {
      asked += 1;
      return machine.processors >= queue.processors && queue.kinds.includes(machine.kind);
    },
    prefetchDepth: () => depth,
    dispatch: (machine, queue, countMax) => {
      const count = Math.min(countMax, queue.readyCount);
      queue.readyCount -= count;
      machine.heldProcessors += count * queue.processors;
      lines.push(`${machine.name} ${count} of ${queue.name}`);
      return count;
    },
  });
  return { lines: [...lines, ...[...kept].map(({ name }) => `${name} kept`)], asked };
}

test('tasks are placed as if machines that match none of the ready ones were not there', (t) => {
  fc.assert(
    fc.property(anyDrawn, (drawn) => {
      const wanted = new Set(drawn.queues.filter(({ ready }) => ready > 0).flatMap(({ kinds }) => kinds));
      t.deepEqual(place(drawn, () => true).lines, place(drawn, (kind) => wanted.has(kind)).lines);
    }),
    runs(773, 500),
  );
});

test('whether a queue may use a machine is asked twice at most', (t) => {
  fc.assert(
    fc.property(anyDrawn, (drawn) => {
      t.true(place(drawn, () => true).asked <= 2 * drawn.machines.length * drawn.queues.length);
    }),
    runs(774, 200),
  );
});
