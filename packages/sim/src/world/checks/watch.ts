import type { Duration } from '@mutirao/core/shared';
import type { WorldTurn } from '../machine-process.ts';
import type { World } from '../world.ts';
import { AgentTurnCheck } from './agent-turns.ts';
import { BoundsCheck } from './bounds.ts';
import { BudgetCheck } from './budget.ts';
import { BrokerTurnCheck } from './broker-turns.ts';
import type { WorldCheck } from './check.ts';
import { CalmCheck } from './calm.ts';
import { DrainingCheck } from './draining.ts';
import { ExplainCheck } from './explain.ts';
import { HeldCheck } from './held.ts';
import { LedgerCheck } from './ledger.ts';
import { ProviderTurnCheck } from './provider-turns.ts';
import { QuietCheck } from './quiet.ts';
import { ReplayCheck } from './replay.ts';
import { SleepCheck } from './sleep.ts';

const lookEvery: Duration = 10_000;

/** All that is checked of a world in addition to the invariants of its state machines. */
export class Watch {
  readonly #receiving: readonly WorldCheck[];
  /** A costly check runs once in `every` looks. */
  readonly #looking: readonly { readonly check: WorldCheck; readonly every: number }[];
  readonly #ending: readonly WorldCheck[];

  constructor(world: World) {
    const [calm, quiet] = [new CalmCheck(world), new QuietCheck(world)];
    this.#receiving = [
      new BrokerTurnCheck(world),
      new ProviderTurnCheck(),
      new BudgetCheck(world),
      new AgentTurnCheck(),
      new DrainingCheck(world),
      new HeldCheck(world),
      calm,
    ];
    this.#looking = [
      { check: quiet, every: 1 },
      { check: new SleepCheck(world), every: 1 },
      { check: new BoundsCheck(world), every: 6 },
      { check: new LedgerCheck(world), every: 18 },
      { check: new ExplainCheck(world), every: 60 },
      { check: new ReplayCheck(world), every: 180 },
    ];
    this.#ending = [calm, new LedgerCheck(world), new ReplayCheck(world)];
    this.#lookLater(world, 1);
  }

  /** Receives a turn. */
  receive(turn: WorldTurn): void {
    for (const check of this.#receiving) check.receive?.(turn);
  }

  /** Is called when the changes of the last turn of a process are in its journal. */
  onCommitted(process: string): void {
    for (const check of this.#receiving) check.onCommitted?.(process);
  }

  /** Everything has come to its end. */
  end(): void {
    for (const check of this.#ending) (check.end ?? check.look)?.call(check);
  }

  #lookLater(world: World, count: number): void {
    world.kernel.after(lookEvery, () => {
      for (const { check, every } of this.#looking) if (count % every === 0) check.look?.();
      this.#lookLater(world, count + 1);
    });
  }
}
