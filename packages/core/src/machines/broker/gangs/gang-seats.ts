import { countStartable, freeProcessors } from '../../../bag/index.ts';
import type { ProcessorCount } from '../../../shared/index.ts';
import type { GangSeat } from './gang.ts';
import type { BrokerMachine, TaskQueue } from '../state.ts';

/** The machines of one provider that may be members of a queue's gangs, and their free processors. */
export class SeatPlan {
  /** All of them, free or not. */
  readonly machines: readonly BrokerMachine[];
  readonly #needs: Pick<TaskQueue, 'resources'>;
  /** What they have, free or not. */
  readonly capacity: ProcessorCount;
  /** Those with free processors, the most first. */
  #open: { readonly machine: BrokerMachine; readonly free: ProcessorCount }[] = [];
  #free = 0;

  /** @param needs the other resources of each member, in addition to processors. */
  constructor(machines: readonly BrokerMachine[], needs: Pick<TaskQueue, 'resources'>) {
    this.machines = machines;
    this.#needs = needs;
    this.capacity = machines.reduce((sum, { processors }) => sum + processors, 0);
    this.look();
  }

  /** Processors that are free. */
  get free(): ProcessorCount {
    return this.#free;
  }

  /** Takes note of what is free now. Cost: O(machines log machines). */
  look(): void {
    this.#open = this.machines
      .map((machine) => ({
        machine,
        free: countStartable(machine, { ...this.#needs, processors: 1 }) > 0 ? freeProcessors(machine) : 0,
      }))
      .filter(({ free }) => free > 0);
    this.#open.sort((one, other) => other.free - one.free);
    this.#free = this.#open.reduce((sum, { free }) => sum + free, 0);
  }

  /** How many members a gang of this width would have; Infinity if too few processors are free. Cost: O(members). */
  countMembers(processors: ProcessorCount): number {
    if (this.#free < processors) return Infinity;
    let count = 0;
    for (let left = processors; left > 0; count++) left -= this.#open[count]?.free ?? left;
    return count;
  }

  /**
   * Takes the seats of a gang of this width, which must be free: the fewest possible, the widest first. Cost:
   * O(machines).
   */
  take(processors: ProcessorCount): GangSeat<BrokerMachine>[] {
    const count = this.countMembers(processors);
    const taken = this.#open.splice(0, count);
    this.#free -= processors;
    let left = processors;
    const seats: GangSeat<BrokerMachine>[] = [];
    for (const { machine, free } of taken) {
      const own = Math.min(free, left);
      seats.push({ machine, processors: own });
      left -= own;
      if (own < free) this.#putBack(machine, free - own);
    }
    return seats;
  }

  #putBack(machine: BrokerMachine, free: ProcessorCount): void {
    let low = 0;
    let high = this.#open.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#open[middle]?.free ?? 0) >= free) low = middle + 1;
      else high = middle;
    }
    this.#open.splice(low, 0, { machine, free });
  }
}
