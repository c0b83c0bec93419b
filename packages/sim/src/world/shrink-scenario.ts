import { ScenarioError } from './read-fields.ts';
import { readScenario } from './read-scenario.ts';
import { listReductions } from './reductions.ts';
import type { WorldFailure } from './run-world.ts';
import type { Scenario } from './scenario.ts';

/** How a scenario is made smaller. */
export interface Shrinking {
  /** Runs a scenario and returns how it failed; undefined when it did not. */
  run(scenario: Scenario): WorldFailure | undefined;
  /** Runs at most. */
  readonly triesMax: number;
}

/** The smallest scenario found that still fails, and how it does. */
export interface ShrunkScenario {
  readonly scenario: Scenario;
  readonly failure: WorldFailure;
  readonly tryCount: number;
}

/**
 * Rng is different in a smaller world, so that reductions get a few other seeds once none is left that fails with its
 * own.
 */
const otherSeedsMax = 4;

/**
 * Makes a scenario that fails smaller, as long as the same failure remains: fewer of everything, fewer faults, a
 * shorter storm.
 *
 * Greedy: a reduction is kept at once when the smaller world still fails, and never taken back.
 *
 * @param failure what running `scenario` gives.
 */
export function shrinkScenario(scenario: Scenario, failure: WorldFailure, shrinking: Shrinking): ShrunkScenario {
  const shrinker = new Shrinker(scenario, failure, shrinking);
  for (let other = 0; other <= otherSeedsMax; other += 1) {
    const isSmaller = shrinker.reduceAll(other === 0 ? undefined : `${scenario.seed}.${other}`);
    // What was kept makes room for more: begin again with it, and with its own rng.
    if (isSmaller) other = -1;
    if (shrinker.isOver) break;
  }
  return shrinker.smallest;
}

class Shrinker {
  readonly #shrinking: Shrinking;
  readonly #kind: string;
  #scenario: Scenario;
  #failure: WorldFailure;
  #tryCount = 0;

  constructor(scenario: Scenario, failure: WorldFailure, shrinking: Shrinking) {
    this.#shrinking = shrinking;
    this.#scenario = scenario;
    this.#failure = failure;
    this.#kind = kindOfFailure(failure);
  }

  get smallest(): ShrunkScenario {
    return { scenario: this.#scenario, failure: this.#failure, tryCount: this.#tryCount };
  }

  get isOver(): boolean {
    return this.#tryCount >= this.#shrinking.triesMax;
  }

  /** Tries every reduction, again and again while it helps; returns whether any did. */
  reduceAll(seed: string | undefined): boolean {
    let isSmaller = false;
    for (const reduce of listReductions(this.#scenario)) {
      while (this.#keepFirst(reduce(this.#scenario, this.#failure), seed)) isSmaller = true;
    }
    return isSmaller;
  }

  /** Keeps the first candidate that fails in the same way. */
  #keepFirst(candidates: readonly Scenario[], seed: string | undefined): boolean {
    const current = JSON.stringify(this.#scenario);
    return candidates.some(
      (candidate) =>
        JSON.stringify(candidate) !== current && this.#isKept(seed === undefined ? candidate : { ...candidate, seed }),
    );
  }

  #isKept(candidate: Scenario): boolean {
    if (this.isOver || !isSound(candidate)) return false;
    this.#tryCount += 1;
    const failure = this.#shrinking.run(candidate);
    if (failure === undefined || kindOfFailure(failure) !== this.#kind) return false;
    this.#scenario = candidate;
    this.#failure = failure;
    return true;
  }
}

function isSound(scenario: Scenario): boolean {
  try {
    readScenario(scenario);
    return true;
  } catch (error) {
    if (error instanceof ScenarioError) return false;
    throw error;
  }
}

/**
 * What two failures must have in common to be the same: the phase, and the message without its numbers, each of its
 * parts once.
 */
export function kindOfFailure({ phase, message }: WorldFailure): string {
  const parts = message.replaceAll(/\d+/g, '#').split('; ');
  return [phase, ...[...new Set(parts)].sort()].join('; ');
}
