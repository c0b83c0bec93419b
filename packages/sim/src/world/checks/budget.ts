import type { ProviderChange } from '@mutirao/core/machines/provider';
import { findHeuristic, requestBudget } from '@mutirao/core/requests';
import { invariant, type Duration, type Instant } from '@mutirao/core/shared';
import type { WorldTurn } from '../machine-process.ts';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';

const hour: Duration = 3_600_000;

/** What a provider asked for, and gave up, lately. */
interface Asked {
  submissions: Instant[];
  withdrawals: Instant[];
}

/** Heuristics that watch the queue never ask for more within an hour, by their provider's clock, than they may, nor give up more. */
export class BudgetCheck implements WorldCheck {
  readonly #world: World;
  /** By process: what is in the journal, or may be. */
  readonly #asked = new Map<string, Asked>();

  constructor(world: World) {
    this.#world = world;
  }

  hear({ process, changes }: WorldTurn): void {
    if (!process.startsWith('provider')) return;
    let asked = this.#asked.get(process);
    if (asked === undefined) this.#asked.set(process, asked = { submissions: [], withdrawals: [] });
    for (const change of changes as readonly ProviderChange[]) this.#count(process, asked, change);
  }

  #count(process: string, asked: Asked, change: ProviderChange): void {
    const most = this.#mostOf(process);
    if (change.kind === 'RequestDrafted' && findHeuristic(change.heuristic)?.decidesAt === 'queue events') {
      asked.submissions = noteAt(asked.submissions, change.at);
      invariant(asked.submissions.length <= most.submissions, `${process} asks for ${change.requestId}, number ${asked.submissions.length} within the hour; it may ask for ${most.submissions}`);
    } else if (change.kind === 'RequestReleasing' && change.isGivenUp === true) {
      asked.withdrawals = noteAt(asked.withdrawals, change.at);
      invariant(asked.withdrawals.length <= most.withdrawals, `${process} gives up ${change.requestId}, number ${asked.withdrawals.length} within the hour; it may give up ${most.withdrawals}`);
    } else if (change.kind === 'ClockSetBack') {
      asked.submissions = asked.submissions.map((at) => Math.min(at, change.at));
      asked.withdrawals = asked.withdrawals.map((at) => Math.min(at, change.at));
    }
  }

  #mostOf(process: string): typeof requestBudget {
    const site = this.#world.clusters.find(({ provider }) => provider.current?.process.name === process);
    return site?.plan.perHour ?? requestBudget;
  }
}

function noteAt(instants: readonly Instant[], at: Instant): Instant[] {
  return [...instants.filter((instant) => instant > at - hour), at];
}
