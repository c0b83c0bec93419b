import type { NodeShape, Slot } from '@mutirao/core/resources';
import test from 'ava';
import { renderBatchScript } from '../../../src/slurm/batch-script.ts';
import { slotFlags } from '../../../src/slurm/slot-flags.ts';

const mebibyte = 2 ** 20;
const nodes: readonly NodeShape[] = [
  { count: 2, processors: 8, memory: 4000 * mebibyte, gpus: {} },
  { count: 1, processors: 16, memory: 8000 * mebibyte, gpus: { a100: 2 } },
];

const terms = { nodes, gpuSpellings: new Map<string, string>(), given: new Set<string>() };

function flagsOf(slot: Slot | undefined, given: readonly string[] = [], width = 8): string {
  return slotFlags(width, slot, { ...terms, given: new Set(given) }).join(' ');
}

test('a request in slots has a task of Slurm for each, with its processors, memory and GPUs', (t) => {
  t.is(flagsOf(undefined), '--ntasks=8');
  t.is(flagsOf({ processors: 4, memory: 0, gpus: 0 }), '--ntasks=2 --cpus-per-task=4');
  t.is(
    flagsOf({ processors: 2, memory: 1000 * mebibyte, gpus: 2, gpuKind: 'a100' }),
    '--ntasks=4 --cpus-per-task=2 --mem-per-cpu=564M --gpus-per-task=a100:2',
  );
  t.is(flagsOf({ processors: 1, memory: 0, gpus: 1 }), '--ntasks=8 --cpus-per-task=1 --gpus-per-task=1');
});

test('memory has room for the agent as far as a node has it, and is not asked for where Slurm does not know it', (t) => {
  t.regex(flagsOf({ processors: 8, memory: 7984 * mebibyte, gpus: 0 }), /--mem-per-cpu=1000M$/);
  const unknown = nodes.map((node) => ({ ...node, memory: 0 }));
  const slot = { processors: 8, memory: 7984 * mebibyte, gpus: 0 };
  t.deepEqual(slotFlags(8, slot, { ...terms, nodes: unknown }), ['--ntasks=1', '--cpus-per-task=8']);
});

test('as many slots as are counted on the nodes fit on them with the memory that is asked for', (t) => {
  const asked = (processors: number, node: Partial<NodeShape>): string | undefined =>
    slotFlags(
      8,
      { processors, memory: 1000 * mebibyte, gpus: 0 },
      { ...terms, nodes: [...nodes, { count: 1, processors: 8, memory: 4000 * mebibyte, gpus: {}, ...node }] },
    ).at(-1);
  t.is(asked(2, {}), '--mem-per-cpu=500M', 'no room for the agent next to four slots');
  t.is(asked(2, { memory: 4100 * mebibyte }), '--mem-per-cpu=500M', 'the node with the least says it');
  t.is(asked(3, { processors: 12 }), '--mem-per-cpu=333M', 'memory that does not divide evenly among processors');
});

test('a GPU is asked for in the spelling of Slurm', (t) => {
  const gpuSpellings = new Map([['a100', 'A100']]);
  const slot = { processors: 1, memory: 0, gpus: 2, gpuKind: 'a100' };
  t.is(slotFlags(1, slot, { ...terms, gpuSpellings }).at(-1), '--gpus-per-task=A100:2');
});

test("what the user's own flags ask for is not asked for again", (t) => {
  const slot = { processors: 2, memory: 1000 * mebibyte, gpus: 1 };
  t.is(flagsOf(slot, ['mem']), '--ntasks=4 --cpus-per-task=2 --gpus-per-task=1');
  t.regex(flagsOf(slot, ['gres']), /--mem-per-cpu=564M$/);
});

test('an agent starts on each node, whatever the job was asked for with, or for each slot', (t) => {
  const order = {
    userId: 'ana',
    width: 8,
    walltime: 60_000,
    command: ['agent'],
    environment: {},
    workingDirectory: '',
    clientRequestId: 'p.q1',
    slot: { processors: 4, memory: 0, gpus: 0 },
  };
  const { slot: _, ...plain } = order;
  const perNode = renderBatchScript(order);
  t.regex(
    perNode,
    /\nexport MUTIRAO_MACHINE_PROCESSORS=granted\nunset MUTIRAO_MACHINE_MEMORY_BYTES .*SLURM_CPUS_PER_TASK.*\n/,
  );
  t.regex(perNode, /--nodes="\$SLURM_JOB_NUM_NODES" .*--ntasks-per-node=1 /);
  const perSlot = renderBatchScript(order, 'processor');
  t.regex(perSlot, / MUTIRAO_MACHINE_PROCESSORS=4 [^]*\nexec srun .*--cpus-per-task=4 /);
  t.notRegex(renderBatchScript(plain, 'processor'), /PROCESSORS|cpus-per-task/);
});
