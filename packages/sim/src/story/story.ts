import type { Instant } from '@mutirao/core/shared';
import { describe, showTime } from './describe.ts';
import { walkIds } from './walk-ids.ts';

/** What happened to a machine, or what it decided. */
export interface StoryEvent {
  readonly now: Instant;
  readonly turn: number;
  /** Whose machine it is; left out where there is one only. */
  readonly process?: string;
  readonly role: 'input' | 'change' | 'command';
  readonly message: { readonly kind: string };
}

/** Stands for all ids: the story contains everything. */
export const everything = 'all';

const marks = { input: '<-', change: '  ', command: '->' } as const;

/**
 * Picks what touches some ids out of all that happens, and prints each event in one line.
 *
 * Events must come in their order: the story of a task includes its replicas, from the moment that a message names
 * them.
 */
export class Story {
  readonly #about: Set<string>;
  readonly #start: Instant;

  /** @param about ids as `listIds` gives them. */
  constructor(about: readonly string[], start: Instant) {
    this.#about = new Set(about);
    this.#start = start;
  }

  /** The line about an event; undefined when it is not of this story. Changes only teach which replicas a task has. */
  report({ now, turn, process, role, message }: StoryEvent): string | undefined {
    const { ids, runs } = walkIds(message);
    for (const { tasks, replica } of runs) {
      if (tasks.some((task) => this.#about.has(task))) this.#about.add(replica);
    }
    if (role === 'change' || !(this.#about.has(everything) || [...ids].some((id) => this.#about.has(id))))
      return undefined;
    const who = process === undefined ? '' : ` ${process}`;
    return (
      `${showTime(now - this.#start).padStart(9)}${who} #${turn} ${marks[role]} ` +
      `${describe(message, { start: this.#start, about: this.#about })}`
    );
  }
}
