import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@mutirao/testkit';
import test, { type ExecutionContext } from 'ava';
import { readManagerFile, type ManagerTemplates } from '../../../src/commands/manager-file.ts';
import { renderScript } from '../../../src/commands/render-script.ts';
import { slotValues } from '../../../src/commands/slot-values.ts';

const mebibyte = 2 ** 20;
const nodes = [
  { count: 2, processors: 8, memory: 16_000 * mebibyte, gpus: { a100: 2 } },
  { count: 1, processors: 4, memory: 0, gpus: {} },
];

const terms = { nodes, gpuSpellings: new Map([['a100', 'A100']]) };

function read(t: ExecutionContext, limits: object, launch = ''): ManagerTemplates {
  const file = join(temporaryFolder(t), 'manager.json');
  const submit = {
    command: ['qsub', '-l', 'select={slots}:ncpus={slot_processors}:mem={slot_memory_mib}mb:ngpus={slot_gpus}'],
    id: '(.+)',
    ...(launch === '' ? {} : { launch, processIndex: '$RANK' }),
  };
  const queue = {
    command: ['qstat'],
    format: 'json',
    fields: { id: 'i', key: 'k', state: 's', width: 'w', walltime: 't' },
    states: { queued: ['Q'], running: ['R'] },
  };
  const text = {
    submit,
    cancel: { command: ['qdel', '{id}'] },
    queue,
    limits: { processors: 20, walltimeMax: '1h', ...limits },
  };
  writeFileSync(file, JSON.stringify(text));
  return readManagerFile(file);
}

test('a file describes nodes, and a wrong node is refused with the name of its field', (t) => {
  const described = [{ count: 2, processors: 8, memoryMib: 16_000, gpus: { A100: 2 } }, { processors: 4 }];
  t.deepEqual(read(t, { nodes: described }).limits.nodes, nodes);
  t.deepEqual([...read(t, { nodes: described }).limits.gpuSpellings], [['a100', 'A100']]);
  t.is(read(t, {}).limits.nodes, undefined);
  t.throws(() => read(t, { nodes: [] }), { message: /field "limits.nodes" is \[\]; expected an array of objects/ });
  t.throws(() => read(t, { nodes: [{ processors: 0 }] }), { message: /field "limits.nodes\[0\].processors" is 0/ });
  t.throws(() => read(t, { nodes: [{ processors: 1, memory: 3 }] }), {
    message: /no field "limits.nodes\[0\].memory"/,
  });
});

test('placeholders say how many slots and what each has; one without memory has its part of a node', (t) => {
  const slot = { processors: 2, memory: 1000 * mebibyte, gpus: 1, gpuKind: 'a100' };
  t.deepEqual(Object.fromEntries(slotValues({ width: 6, slot }, terms)), {
    slots: '3',
    slot_processors: '2',
    slot_memory_mib: '1000',
    slot_gpus: '1',
    slot_gpu_kind: 'A100',
  });
  t.like(Object.fromEntries(slotValues({ width: 6 }, terms)), {
    slots: '6',
    slot_processors: '1',
    slot_memory_mib: '2000',
    slot_gpus: '0',
  });
});

test('a script starts an agent for each slot, which offers what the slot has', (t) => {
  const described = { nodes: [{ processors: 4, gpus: { A100: 2 } }] };
  const templates = read(t, described, 'mpiexec -n {slots} -g {slot_gpu_kind} {process}');
  const order = {
    userId: 'ana',
    width: 6,
    walltime: 60_000,
    command: ['agent'],
    environment: {},
    workingDirectory: '',
    clientRequestId: 'p.q1',
    slot: { processors: 2, memory: 1000 * mebibyte, gpus: 1, gpuKind: 'a100' },
  };
  t.regex(renderScript(order, templates, '/p'), /\nmpiexec -n 3 -g A100 /);
  const loop = renderScript(order, { ...templates, submit: { ...templates.submit, launch: '' } }, '');
  t.regex(loop, /-lt 3 \]/);
  t.regex(
    loop,
    /MUTIRAO_MACHINE_PROCESSORS='?2'? MUTIRAO_MACHINE_MEMORY_BYTES='?1048576000'? MUTIRAO_MACHINE_GPUS='?1/,
  );
});
