import type { ProviderChange } from '@mutirao/core/machines/provider';
import { findHeuristic } from '@mutirao/core/requests';
import { invariant } from '@mutirao/core/shared';
import type { WorldTurn } from './machine-process.ts';

/**
 * The heuristics that providers confirmed to users, recorded by the world: no fall of a host may take a switch back.
 */
export class HeuristicPromises {
  /**
   * By provider: the heuristics that it may decide by, in the order of switching; the first is the initial one, or the
   * last one that was confirmed.
   */
  readonly #possible = new Map<string, string[]>();

  /** Notes what a provider decides by from its first start on. */
  begin(process: string, heuristic: string): void {
    this.#possible.set(process, [heuristic]);
  }

  /** The switch was confirmed to the user: no earlier heuristic decides any more. */
  report(process: string, heuristic: string): void {
    const possible = this.#possible.get(process) ?? [];
    const first = possible.indexOf(heuristic);
    invariant(first !== -1, `${process} reports ${heuristic}, to which it did not switch`);
    possible.splice(0, first);
  }

  /** Checks a turn. @throws {InvariantError} when a request is drafted by a heuristic that no longer decides. */
  receive({ process, changes }: WorldTurn): void {
    const possible = this.#possible.get(process);
    if (possible === undefined) return;
    for (const change of changes as readonly ProviderChange[]) {
      if (change.kind === 'HeuristicSwitched') possible.push(change.to.heuristic);
      // No heuristic decides what is asked for inside a reservation, or ahead for one.
      if (change.kind !== 'RequestDrafted' || change.reservation !== undefined || change.heldFor !== undefined)
        continue;
      const { requestId, heuristic } = change;
      // `auto` is another name of one of them.
      invariant(
        possible.some((name) => findHeuristic(name)?.name === heuristic),
        `${process} drafts ${requestId} by ${heuristic}; it was switched to ${possible.join(', ')}`,
      );
    }
  }
}
