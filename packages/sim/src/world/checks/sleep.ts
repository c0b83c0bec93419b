import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';

/** No process sleeps through something: woken where nothing wakes it, it finds nothing to do. */
export class SleepCheck implements WorldCheck {
  readonly #world: World;
  #count = 0;

  constructor(world: World) {
    this.#world = world;
  }

  look(): void {
    const processes = this.#world.processes();
    this.#count += 1;
    processes[this.#count % processes.length]?.process.wakeForNothing();
  }
}
