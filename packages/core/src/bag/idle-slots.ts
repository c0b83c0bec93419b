import type { ProcessorCount } from '../shared/index.ts';
import { type BagMachine, freeProcessors } from './bag.ts';

/** Machines that are compared before the best of them is taken. */
export const comparedMachinesMax = 64;

/** Which machines will do, and which of them is best. */
export interface MachineChoice<Machine> {
  suits(machine: Machine): boolean;
  worth(machine: Machine): number;
}

/** Free processors of machines, handed out one task at a time. */
export class IdleSlots<Machine extends BagMachine> {
  readonly #free = new Map<Machine, ProcessorCount>();

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

  /** Takes processors of the first machine that has so many and suits; undefined when none does. */
  take(processors: ProcessorCount, suits: (machine: Machine) => boolean): Machine | undefined {
    for (const [machine, free] of this.#free) {
      if (free < processors || !suits(machine)) continue;
      return this.#taken(machine, free, processors);
    }
    return undefined;
  }

  /**
   * Takes processors of the machine that is worth most, of the first `comparedMachinesMax` that suit; of equals the
   * first.
   */
  takeBest(processors: ProcessorCount, { suits, worth }: MachineChoice<Machine>): Machine | undefined {
    let best: { readonly machine: Machine; readonly free: ProcessorCount; readonly worth: number } | undefined;
    let compared = 0;
    for (const [machine, free] of this.#free) {
      if (free < processors || !suits(machine)) continue;
      const found = worth(machine);
      if (best === undefined || found > best.worth) best = { machine, free, worth: found };
      compared++;
      if (compared === comparedMachinesMax) break;
    }
    return best === undefined ? undefined : this.#taken(best.machine, best.free, processors);
  }

  #taken(machine: Machine, free: ProcessorCount, processors: ProcessorCount): Machine {
    if (free === processors) this.#free.delete(machine);
    else this.#free.set(machine, free - processors);
    return machine;
  }
}
