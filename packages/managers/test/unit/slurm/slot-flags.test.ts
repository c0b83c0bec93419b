import type { NodeShape, Slot } from '@mutirao/core/resources';
import test from 'ava';
import { renderBatchScript } from '../../../src/slurm/batch-script.ts';
import { slotFlags } from '../../../src/slurm/slot-flags.ts';

const mebibyte = 2 ** 20;
const nodes: readonly NodeShape[] = [
  { count: 2, processors: 8, memory: 4000 * mebibyte, gpus: {} },
  { count: 1, processors: 16, memory: 8000 * mebibyte, gpus: { a100: 2 } },
];

function flagsOf(slot: Slot | undefined, given: readonly string[] = [], width = 8): string {
  return slotFlags(width, slot, { nodes, given: new Set(given) }).join(' ');
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
  t.deepEqual(slotFlags(8, slot, { nodes: unknown, given: new Set() }), ['--ntasks=1', '--cpus-per-task=8']);
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
