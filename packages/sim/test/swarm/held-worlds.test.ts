import test from 'ava';
import type { ProviderChange } from '@mutirao/core/machines/provider';
import { drawScenario, heldScenario, readScenario, runWorld, type WorldTurn } from '../../src/index.ts';

/** How often each thing was seen that a world of held allocations is there for. */
class Seen {
  readonly #counts = new Map<string, number>();

  receive({ changes }: WorldTurn): void {
    for (const change of changes as readonly ProviderChange[]) {
      const what = change.kind === 'RequestDrafted' && change.heldFor !== undefined ? 'HeldDrafted' : change.kind;
      this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
    }
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }
}

test('what a provider holds for reservations is never too much, too long or given too early, and goes back, in thirty worlds of kills, moves and cancellations', (t) => {
  const seen = new Seen();
  for (let seed = 0; seed < 30; seed += 1) {
    const { failure } = runWorld(heldScenario(drawScenario(String(seed))), (turn) => {
      seen.receive(turn);
    });
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
  for (const [what, least] of [
    ['HeldDrafted', 100],
    ['HeldGiven', 20],
    ['HeldMoved', 5],
    ['HeldShortened', 1],
  ] as const) {
    t.true(seen.of(what) >= least, `${what}: ${seen.of(what)}`);
  }
});

test('a world of held allocations survives being written down', (t) => {
  const scenario = heldScenario(drawScenario('7'));
  t.deepEqual(readScenario(JSON.parse(JSON.stringify(scenario))), scenario);
});
