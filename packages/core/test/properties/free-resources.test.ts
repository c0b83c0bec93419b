import test from 'ava';
import fc from 'fast-check';
import { type Assignment, FreeResources, type ResourceCapacity, type ResourceRequest } from '@mutirao/core/resources';
import { runs } from '@mutirao/testkit';

const kinds = ['a', 'b'];

const anyCapacity: fc.Arbitrary<ResourceCapacity> = fc.record({
  memory: fc.nat(100),
  gpus: fc
    .array(fc.constantFrom(...kinds), { maxLength: 4 })
    .map((list) => list.map((kind, index) => ({ id: String(index), kind }))),
  named: fc.dictionary(fc.constantFrom('x', 'y'), fc.integer({ min: 1, max: 9 })),
});

const anyRequest: fc.Arbitrary<ResourceRequest> = fc.record(
  {
    memory: fc.oneof(fc.constant(0), fc.nat(60)),
    gpus: fc.constantFrom(0, 0, 100, 300, 500, 700, 1000, 2000),
    gpuKind: fc.constantFrom(...kinds),
    named: fc.dictionary(fc.constantFrom('x', 'y'), fc.integer({ min: 1, max: 5 })),
  },
  { requiredKeys: ['memory', 'gpus', 'named'] },
);

const anyStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('take' as const), request: anyRequest }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('keep' as const), request: anyRequest }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), pick: fc.nat() }) },
);

function isOfKind({ devices }: Assignment, { gpus }: ResourceCapacity, { gpuKind }: ResourceRequest): boolean {
  return gpuKind === undefined || devices.every(({ deviceIndex }) => gpus[deviceIndex]?.kind === gpuKind);
}

/** What is in use, added up from what was handed out. */
function addUp(held: readonly Assignment[], { gpus }: ResourceCapacity): { memory: number; devices: number[] } {
  const devices = gpus.map(() => 0);
  for (const { deviceIndex, share } of held.flatMap((one) => one.devices))
    devices[deviceIndex] = (devices[deviceIndex] ?? 0) + share;
  return { memory: held.reduce((sum, { memory }) => sum + memory, 0), devices };
}

test('of every device, assigned and free shares add up to the whole, whatever is requested', (t) => {
  fc.assert(
    fc.property(anyCapacity, fc.array(anyStep, { maxLength: 40 }), (capacity, steps) => {
      const free = new FreeResources(capacity);
      const held: Assignment[] = [];
      for (const step of steps) {
        if (step.kind === 'release') {
          const [given] = held.splice(step.pick % Math.max(1, held.length), 1);
          if (given !== undefined) free.release(given);
        } else if (step.kind === 'keep') held.push(free.takeUpTo(step.request));
        else {
          const count = free.countFitting(step.request);
          const shortage = free.findShortage(step.request);
          const taken = free.take(step.request);
          if ((taken !== undefined) !== count >= 1 || (shortage === undefined) !== count >= 1) return false;
          if (taken !== undefined) held.push(taken);
        }
        free.check('the machine');
        const used = addUp(held, capacity);
        if (used.memory + free.memory !== capacity.memory) return false;
        if (!used.devices.every((share, index) => share <= 1000 && share + (free.devices[index] ?? 0) === 1000))
          return false;
      }
      return true;
    }),
    runs(20_261_128, 500),
  );
  t.pass();
});

test('as many tasks fit as are counted, and each gets all that it asks for, of its kind', (t) => {
  fc.assert(
    fc.property(anyCapacity, anyRequest, fc.array(anyRequest, { maxLength: 3 }), (capacity, request, before) => {
      const free = new FreeResources(capacity);
      for (const one of before) free.take(one);
      const count = free.countFitting(request);
      if (count === Infinity) return request.memory === 0 && request.gpus === 0;
      const trial = free.clone();
      for (let index = 0; index < count; index++) {
        const taken = trial.take(request);
        if (taken?.memory !== request.memory) return false;
        if (taken.devices.reduce((sum, { share }) => sum + share, 0) !== request.gpus) return false;
        if (!isOfKind(taken, capacity, request)) return false;
      }
      return trial.take(request) === undefined && free.countFitting(request) === count;
    }),
    runs(20_261_128, 500),
  );
  t.pass();
});
