import { FreeResources, type Assignment, type ResourceRequest } from '../resources/index.ts';
import type { Bytes, ProcessorCount } from '../shared/index.ts';
import { type BagMachine, countStartable, freeProcessors, type TaskNeeds } from './bag.ts';

/** What a replica holds of its machine. */
export interface HeldPart {
  readonly processors: ProcessorCount;
  /** Undefined where it holds processors alone. */
  readonly assignment: Assignment | undefined;
}

/** What is kept of a machine for a task that waits for it. */
export interface Kept {
  /** Processors that others may have now. */
  readonly freeBeside: ProcessorCount;
  /** How many tasks of another queue may start next to what is kept. */
  countBeside(needs: TaskNeeds): number;
}

/** All that is free of a machine is kept. */
export const wholeMachine: Kept = { freeBeside: 0, countBeside: () => 0 };

/**
 * The part of a machine that is kept for a task that waits for memory, GPUs or a named resource there, though its
 * processors are free: all that the task takes, except what the replicas that it waits for will give back. Other tasks
 * may have the rest.
 *
 * The task waits for the eldest replicas, as many as it takes for it to fit. Younger replicas hold nothing that is
 * kept, so that the task starts at the latest when all have ended that were there when it began to wait.
 */
export class KeptPart implements Kept {
  readonly #machine: BagMachine;
  readonly #request: ResourceRequest;
  readonly #processors: ProcessorCount;
  readonly #memory: Bytes;
  readonly #named: ReadonlyMap<string, number>;

  /** @param held in the order of placing. */
  constructor(
    machine: BagMachine,
    needs: TaskNeeds & { readonly resources: ResourceRequest },
    held: Iterable<HeldPart>,
  ) {
    const given = addUpGiven(machine, needs, held);
    const { memory, named } = needs.resources;
    this.#machine = machine;
    this.#request = needs.resources;
    this.#processors = Math.max(0, needs.processors - given.processors);
    this.#memory = Math.max(0, memory - given.memory);
    this.#named = new Map(
      Object.entries(named).map(([name, amount]) => [name, Math.max(0, amount - (given.named.get(name) ?? 0))]),
    );
  }

  get freeBeside(): ProcessorCount {
    return Math.max(0, freeProcessors(this.#machine) - this.#processors);
  }

  countBeside(needs: TaskNeeds): number {
    const { processors, resources } = needs;
    const count = Math.min(Math.floor(this.freeBeside / processors), countStartable(this.#machine, needs));
    if (resources === undefined || count === 0) return count;
    // Devices are chosen when a task starts: one that takes a part of one could keep the task from the whole of it.
    if (mayShareGpus(this.#request, resources)) return 0;
    return Math.min(count, this.#countByAmounts(resources));
  }

  #countByAmounts({ memory, named }: ResourceRequest): number {
    const free = this.#machine.resources;
    let count = memory === 0 ? Infinity : floorOf((free?.memory ?? 0) - this.#memory, memory);
    for (const [name, amount] of Object.entries(named))
      count = Math.min(count, floorOf((free?.amountOf(name) ?? 0) - (this.#named.get(name) ?? 0), amount));
    return count;
  }
}

function floorOf(left: number, each: number): number {
  return left <= 0 ? 0 : Math.floor(left / each);
}

function mayShareGpus(one: ResourceRequest, other: ResourceRequest): boolean {
  if (one.gpus === 0 || other.gpus === 0) return false;
  return one.gpuKind === undefined || other.gpuKind === undefined || one.gpuKind === other.gpuKind;
}

interface Given {
  processors: ProcessorCount;
  memory: Bytes;
  readonly named: Map<string, number>;
}

/** What those replicas give back that a task waits for; nothing where it would not fit after all of them. */
function addUpGiven(
  machine: BagMachine,
  { processors, resources }: TaskNeeds & { readonly resources: ResourceRequest },
  held: Iterable<HeldPart>,
): Given {
  const given: Given = { processors: 0, memory: 0, named: new Map() };
  const trial = machine.resources?.clone() ?? new FreeResources();
  for (const { processors: own, assignment } of held) {
    if (trial.fits(resources) && freeProcessors(machine) + given.processors >= processors) break;
    given.processors += own;
    if (assignment === undefined) continue;
    trial.release(assignment);
    given.memory += assignment.memory;
    for (const [name, amount] of Object.entries(assignment.named))
      given.named.set(name, (given.named.get(name) ?? 0) + amount);
  }
  return trial.fits(resources) ? given : { processors: 0, memory: 0, named: new Map() };
}
