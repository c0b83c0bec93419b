import type { MachineDetail } from '../../../src/schema/index.ts';
import { sayBytes, sayCount } from './words.ts';

type Running = MachineDetail['running'][number];

/** The amount of a resource that one running task holds. */
export interface HeldPart {
  readonly task: string;
  readonly amount: number;
}

/** How much of a resource a machine has, and which running tasks hold it. */
export interface MachineUse {
  readonly title: string;
  readonly total: number;
  readonly parts: readonly HeldPart[];
  /** `6 of 8` */
  readonly says: string;
}

/** Processors, memory and GPUs of a machine; unstated ones are left out. */
export function listUses({ machine, running }: MachineDetail): MachineUse[] {
  const gpus = machine.gpus.reduce((sum, { count }) => sum + count, 0);
  const kinds = machine.gpus.map(({ kind }) => kind).filter((kind) => kind !== '');
  return [
    describeUse('Processors', machine.processors, { running, of: (task) => task.processors, say: sayCount }),
    describeUse('Memory', machine.memory_bytes, { running, of: (task) => task.memory_bytes, say: sayBytes }),
    describeUse(kinds.length === 0 ? 'GPUs' : `GPUs (${kinds.join(', ')})`, gpus, {
      running,
      of: (task) => task.gpu_thousandths / 1000,
      say: (count) => String(Math.round(count * 1000) / 1000),
    }),
  ].filter(({ total }) => total > 0);
}

function describeUse(
  title: string,
  total: number,
  {
    running,
    of,
    say,
  }: { readonly running: readonly Running[]; of(task: Running): number; say(amount: number): string },
): MachineUse {
  const parts = running.flatMap((task) => {
    const amount = of(task);
    return amount > 0 ? [{ task: `task ${task.task_index} of job ${task.job_id}: ${say(amount)}`, amount }] : [];
  });
  const held = parts.reduce((sum, { amount }) => sum + amount, 0);
  return { title, total, parts, says: `${say(held)} of ${say(total)}` };
}
