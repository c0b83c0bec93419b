import type { ProviderChange } from '@mutirao/core/machines/provider';
import { findHeuristic, requestBudget } from '@mutirao/core/requests';
import { invariant, type Duration, type Instant } from '@mutirao/core/shared';
import type { WorldTurn } from '../machine-process.ts';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';

const hour: Duration = 3_600_000;

/** When a provider asked for requests, and gave them up, lately, by its own clock. */
interface Asked {
  readonly submissions: readonly Instant[];
  readonly withdrawals: readonly Instant[];
}

const nothingAsked: Asked = { submissions: [], withdrawals: [] };

/**
 * Heuristics that watch the queue never ask for more within an hour, by their provider's clock, than they may, nor give
 * up more. An hour that the clock was set in lasts an hour all the same.
 */
export class BudgetCheck implements WorldCheck {
  readonly #world: World;
  /** By process: what is in the journal. */
  readonly #asked = new Map<string, Asked>();
  /** By process: the same with its last turn, of which nothing has happened before it is in the journal. */
  readonly #decided = new Map<string, Asked>();

  constructor(world: World) {
    this.#world = world;
  }

  receive({ process, changes }: WorldTurn): void {
    if (!process.startsWith('provider')) return;
    let asked = this.#asked.get(process) ?? nothingAsked;
    for (const change of changes as readonly ProviderChange[]) asked = this.#count(process, asked, change);
    this.#decided.set(process, asked);
  }

  onCommitted(process: string): void {
    const asked = this.#decided.get(process);
    if (asked !== undefined) this.#asked.set(process, asked);
  }

  #count(process: string, asked: Asked, change: ProviderChange): Asked {
    const most = this.#mostOf(process);
    if (change.kind === 'RequestDrafted' && findHeuristic(change.heuristic)?.decidesAt === 'queue events') {
      const submissions = noteAt(asked.submissions, change.at);
      invariant(
        submissions.length <= most.submissions,
        `${process} asks for ${change.requestId}, number ${submissions.length} within the hour; it may ask ` +
          `for ${most.submissions}`,
      );
      return { ...asked, submissions };
    }
    if (change.kind === 'RequestReleasing' && change.isGivenUp === true) {
      const withdrawals = noteAt(asked.withdrawals, change.at);
      invariant(
        withdrawals.length <= most.withdrawals,
        `${process} gives up ${change.requestId}, number ${withdrawals.length} within the hour; it may give ` +
          `up ${most.withdrawals}`,
      );
      return { ...asked, withdrawals };
    }
    if (change.kind === 'ClockSetBack') return mapInstants(asked, (at) => Math.min(at, change.at));
    if (change.kind === 'ClockStepped') return mapInstants(asked, (at) => at + change.by);
    return asked;
  }

  #mostOf(process: string): typeof requestBudget {
    const site = this.#world.clusters.find(({ provider }) => provider.current?.process.name === process);
    return site?.plan.perHour ?? requestBudget;
  }
}

function noteAt(instants: readonly Instant[], at: Instant): readonly Instant[] {
  return [...instants.filter((instant) => instant > at - hour), at];
}

function mapInstants({ submissions, withdrawals }: Asked, move: (at: Instant) => Instant): Asked {
  return { submissions: submissions.map(move), withdrawals: withdrawals.map(move) };
}
