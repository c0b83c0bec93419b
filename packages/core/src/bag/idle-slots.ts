import type { ProcessorCount } from '../shared/index.ts';
import { type BagMachine, freeProcessors } from './bag.ts';

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
      if (free === processors) this.#free.delete(machine);
      else this.#free.set(machine, free - processors);
      return machine;
    }
    return undefined;
  }
}
