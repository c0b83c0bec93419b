import test, { type ExecutionContext } from 'ava';
import { decideCapacity, type CapacityOptions, type DecidedCapacity } from '../../../src/capacity/decide-capacity.ts';
import type { FoundCapacity } from '../../../src/capacity/find-capacity.ts';
import { HostClaims } from '../../../src/capacity/host-claims.ts';
import { listGrantedProcessors, readSlotGrant } from '../../../src/capacity/manager-grant.ts';
import { readStated } from '../../../src/capacity/read-stated.ts';

let spaces = 0;

interface Case {
  readonly memory?: number;
  readonly gpus?: string;
  readonly resource?: readonly string[];
  readonly found?: Partial<FoundCapacity>;
  readonly options?: Partial<CapacityOptions>;
  readonly claims?: HostClaims;
}

function claimsOf(t: ExecutionContext, space = `mutirao-test-decide-${process.pid}-${++spaces}`): HostClaims {
  const claims = new HostClaims(space);
  t.teardown(() => {
    claims.close();
  });
  return claims;
}

async function decide(t: ExecutionContext, aCase: Case): Promise<DecidedCapacity> {
  const { memory = 0, gpus = '', resource = [], found, options, claims = claimsOf(t) } = aCase;
  return await decideCapacity(
    { memory, ...readStated(gpus, resource) },
    { processorIds: [], processors: 4, granted: 4, memory: 1000, gpus: [], ...found },
    claims,
    { processors: 4, isAllocation: false, ...options },
  );
}

test('an agent offers the devices that its slot names, also where none was found on the host', async (t) => {
  const slot = { memory: 9, gpus: 1, devices: [{ id: '2', kind: 'a100' }] };
  const options = { isAllocation: true, slot };
  t.deepEqual((await decide(t, { options })).capacity, { memory: 9, gpus: slot.devices, named: {} });
  t.deepEqual((await decide(t, { options, found: two })).capacity.gpus, slot.devices);
  const none = { isAllocation: true, slot: { memory: 9, gpus: 0, devices: [] } };
  t.deepEqual((await decide(t, { options: none, found: two })).capacity.gpus, []);
});

test('the variables of its slot give an agent its devices and processors', (t) => {
  const environment = {
    MUTIRAO_MACHINE_MEMORY_BYTES: '9',
    MUTIRAO_MACHINE_GPUS: '2',
    MUTIRAO_MACHINE_GPU_DEVICES: '1:a100 2:',
    MUTIRAO_MACHINE_PROCESSOR_IDS: '1,2',
  };
  t.deepEqual(readSlotGrant(environment)?.devices, [
    { id: '1', kind: 'a100' },
    { id: '2', kind: '' },
  ]);
  t.deepEqual(listGrantedProcessors(environment, [4, 5, 6, 7]), [5, 6]);
  // A cluster that gives out more processors than its host has: the system places tasks on those that there are.
  t.deepEqual(listGrantedProcessors(environment, [4, 5]), [4, 5]);
  t.deepEqual(listGrantedProcessors({}, [4, 5]), [4, 5]);
});

const two = {
  gpus: [
    { id: '0', kind: 't4' },
    { id: '2', kind: 'a100' },
  ],
};

test('what was found is offered where nothing is stated', async (t) => {
  const { capacity, warnings } = await decide(t, { found: two });
  t.deepEqual(capacity, { memory: 1000, gpus: two.gpus, named: {} });
  t.deepEqual(warnings, []);
});

test('one agent of several in an allocation offers its part of the memory, one on a machine of its own all of it', async (t) => {
  t.is((await decide(t, { options: { processors: 1, isAllocation: true } })).capacity.memory, 250);
  t.is((await decide(t, { options: { processors: 1 } })).capacity.memory, 1000);
});

test('what is stated goes before what was found, with a warning for more memory than there is', async (t) => {
  const { capacity, warnings } = await decide(t, { memory: 2000, resource: ['licence=2', 'Scratch=1K'] });
  t.deepEqual(capacity, { memory: 2000, gpus: [], named: { licence: 2, scratch: 1024 } });
  t.regex(warnings.join(), /--memory is 2 KiB, and 1000 B is all that tasks can use here/);
  t.deepEqual((await decide(t, { gpus: '0', found: two })).capacity.gpus, []);
});

test('a number of GPUs takes those of the kind that is stated, and names the kind where none is known by it', async (t) => {
  t.deepEqual((await decide(t, { gpus: '1', found: two })).capacity.gpus, [{ id: '0', kind: 't4' }]);
  t.deepEqual((await decide(t, { gpus: '1:a100', found: two })).capacity.gpus, [{ id: '2', kind: 'a100' }]);
  t.deepEqual((await decide(t, { gpus: '1:old', found: two })).capacity.gpus, [{ id: '0', kind: 'old' }]);
  t.deepEqual((await decide(t, { gpus: '2,', found: two })).capacity.gpus, [{ id: '2', kind: 'a100' }]);
  const amd = { gpus: [{ id: 'amd:0', kind: 'gfx90a' }] };
  t.deepEqual((await decide(t, { gpus: '0,', found: amd })).capacity.gpus, amd.gpus);
});

test('GPUs that are not there are refused where others are, and offered as stated where none can be found', async (t) => {
  for (const gpus of ['3', '2:a100', '1,', '0,1'])
    await t.throwsAsync(
      decide(t, { gpus, found: two }),
      { code: 'MUT_BAD_CONFIG', message: /this host has \d GPUs?: / },
      gpus,
    );
  const { capacity, warnings } = await decide(t, { gpus: '2:a100' });
  t.is(capacity.gpus.length, 2);
  t.regex(warnings.join(), /--gpus is 2:a100, and no GPU was found on this host/);
});

test('texts that cannot be read are refused with the name of the option', async (t) => {
  for (const gpus of ['1.5', 'many', '2:', '-1', '0,0'])
    await t.throwsAsync(decide(t, { gpus }), { code: 'MUT_BAD_CONFIG', message: /^--gpus: / }, gpus);
  for (const resource of [['licence=0'], ['gpus=2'], ['=2'], ['licence=x']])
    await t.throwsAsync(decide(t, { resource }), { code: 'MUT_BAD_CONFIG', message: /^--resource: / }, resource.join());
  await t.throwsAsync(decide(t, { resource: ['licence=1', 'LICENCE=2'] }), {
    code: 'MUT_BAD_CONFIG',
    message: /--resource names licence twice/,
  });
});

test('of two agents on one host only the first offers a device', async (t) => {
  const space = `mutirao-test-decide-${process.pid}-both`;
  const one = await decide(t, { gpus: '1:a100', found: two, claims: claimsOf(t, space) });
  t.deepEqual(one.capacity.gpus, [{ id: '2', kind: 'a100' }]);
  const other = await decide(t, { found: two, claims: claimsOf(t, space) });
  t.deepEqual(other.capacity.gpus, [{ id: '0', kind: 't4' }]);
  t.regex(other.warnings.join(), /GPU 2 is left to another agent of this host/);
});

test('an agent of a slot offers what the slot has: its memory, and as many GPUs of the host', async (t) => {
  const gpus = [
    { id: '0', kind: 'a100' },
    { id: '1', kind: 'a100' },
  ];
  const options = { isAllocation: true, processors: 2 };
  const { capacity } = await decide(t, { found: { gpus }, options: { ...options, slot: { memory: 900, gpus: 1 } } });
  t.deepEqual(capacity, { memory: 900, gpus: gpus.slice(0, 1), named: {} });
  const plain = await decide(t, { found: { gpus }, options: { ...options, slot: { memory: 0, gpus: 0 } } });
  t.deepEqual(plain.capacity, { memory: 500, gpus: [], named: {} });
});

test('an agent of a slot offers no more memory than the manager gave, and warns of less than was requested', async (t) => {
  const options = { isAllocation: true, slot: { memory: 900, gpus: 0 } };
  const less = await decide(t, { found: { grantedMemory: 600 }, options });
  t.is(less.capacity.memory, 600);
  t.deepEqual(less.warnings, ['900 B of memory was requested, and the resource manager gave 600 B: that is offered']);
  const more = await decide(t, { found: { grantedMemory: 1200 }, options });
  t.is(more.capacity.memory, 900);
  t.deepEqual(more.warnings, []);
});
