import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Lets others have their turn now and then, for work in many small steps that wait for nothing: waiting for each of
 * them would take
 * longer than the step.
 */
export class Turns {
  readonly #stepsMax: number;
  #steps = 0;

  /** @param stepsMax in one turn. */
  constructor(stepsMax = 16) {
    this.#stepsMax = stepsMax;
  }

  /** Whether the turn is over: then await `next`. */
  isOver(): boolean {
    this.#steps += 1;
    return this.#steps % this.#stepsMax === 0;
  }

  /** Resolves when others have had theirs. */
  async next(): Promise<void> {
    await nextTurn();
  }
}
