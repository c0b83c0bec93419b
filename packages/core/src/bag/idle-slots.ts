import type { FreeResources } from '../resources/index.ts';
import type { ProcessorCount } from '../shared/index.ts';
import { type BagMachine, freeProcessors, type TaskNeeds } from './bag.ts';

/** Machines that are compared before the best of them is taken. */
export const comparedMachinesMax = 64;

/** Which machines will do, and which of them is best. */
export interface MachineChoice<Machine> {
  suits(machine: Machine): boolean;
  worth(machine: Machine): number;
}

/** Free processors and other resources of machines, assigned to one task at a time. */
export class IdleSlots<Machine extends BagMachine> {
  readonly #free = new Map<Machine, ProcessorCount>();
  /** The free resources of machines that were assigned in part. */
  readonly #resources = new Map<Machine, FreeResources>();

  /** Takes note of what is free on these machines. */
  constructor(machines: Iterable<Machine>) {
    for (const machine of machines) {
      const free = freeProcessors(machine);
      if (free > 0) this.#free.set(machine, free);
    }
  }

  /** Whether nothing is left. */
  get isEmpty(): boolean {
    return this.#free.size === 0;
  }

  /** Takes what a task needs of the first machine that has it and suits; undefined when none does. */
  take(needs: TaskNeeds, suits: (machine: Machine) => boolean): Machine | undefined {
    for (const [machine, free] of this.#free) {
      if (free < needs.processors || !this.#fits(machine, needs) || !suits(machine)) continue;
      return this.#taken(machine, free, needs);
    }
    return undefined;
  }

  /**
   * Takes what a task needs of the machine that is worth most, of the first `comparedMachinesMax` that suit; of equals
   * the first.
   */
  takeBest(needs: TaskNeeds, { suits, worth }: MachineChoice<Machine>): Machine | undefined {
    let best: { readonly machine: Machine; readonly free: ProcessorCount; readonly worth: number } | undefined;
    let compared = 0;
    for (const [machine, free] of this.#free) {
      if (free < needs.processors || !this.#fits(machine, needs) || !suits(machine)) continue;
      const found = worth(machine);
      if (best === undefined || found > best.worth) best = { machine, free, worth: found };
      compared++;
      if (compared === comparedMachinesMax) break;
    }
    return best === undefined ? undefined : this.#taken(best.machine, best.free, needs);
  }

  #fits(machine: Machine, { resources }: TaskNeeds): boolean {
    if (resources === undefined) return true;
    return (this.#resources.get(machine) ?? machine.resources)?.fits(resources) === true;
  }

  #taken(machine: Machine, free: ProcessorCount, { processors, resources }: TaskNeeds): Machine {
    if (resources !== undefined && machine.resources !== undefined) {
      const left = this.#resources.get(machine) ?? machine.resources.clone();
      this.#resources.set(machine, left);
      left.take(resources);
    }
    if (free === processors) this.#free.delete(machine);
    else this.#free.set(machine, free - processors);
    return machine;
  }
}
