import type { ProviderChange } from '@mutirao/core/machines/provider';
import { findHeuristic } from '@mutirao/core/requests';
import { invariant } from '@mutirao/core/shared';
import type { WorldTurn } from './machine-process.ts';

/** What users were told of the heuristics of providers, kept by the world: no fall may take a switch back. */
export class HeuristicPromises {
  /**
   * By provider: what it may decide by, in the order of switching; first what it was started with, or what was told
   * last.
   */
  readonly #possible = new Map<string, string[]>();

  /** Notes what a provider decides by from its first start on. */
  begin(process: string, heuristic: string): void {
    this.#possible.set(process, [heuristic]);
  }

  /** The user was told what decides now: nothing before it does any more. */
  tell(process: string, heuristic: string): void {
    const possible = this.#possible.get(process) ?? [];
    const first = possible.indexOf(heuristic);
    invariant(first !== -1, `${process} tells of ${heuristic}, which it did not switch to`);
    possible.splice(0, first);
  }

  /** Hears of a turn. @throws {InvariantError} when a request is drafted by what decides no more. */
  hear({ process, changes }: WorldTurn): void {
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
