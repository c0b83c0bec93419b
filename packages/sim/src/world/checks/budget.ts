import type { ProviderChange } from '@mutirao/core/machines/provider';
import { findHeuristic, requestBudget } from '@mutirao/core/requests';
import { invariant, type Duration, type Instant, type RequestId } from '@mutirao/core/shared';
import type { WorldTurn } from '../machine-process.ts';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';

const hour: Duration = 3_600_000;

/**
 * When a provider asked for requests, and gave them up, lately. What is asked for again was lost with a crash before it
 * was asked of the manager, and counts once.
 */
interface Asked {
  submissions: ReadonlyMap<RequestId, Instant>;
  withdrawals: ReadonlyMap<RequestId, Instant>;
}

/**
 * Heuristics that watch the queue never ask for more within an hour, by their provider's clock, than they may, nor give
 * up more.
 */
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
    if (asked === undefined) this.#asked.set(process, (asked = { submissions: new Map(), withdrawals: new Map() }));
    for (const change of changes as readonly ProviderChange[]) this.#count(process, asked, change);
  }

  #count(process: string, asked: Asked, change: ProviderChange): void {
    const most = this.#mostOf(process);
    if (change.kind === 'RequestDrafted' && findHeuristic(change.heuristic)?.decidesAt === 'queue events') {
      asked.submissions = noteAt(asked.submissions, change);
      invariant(
        asked.submissions.size <= most.submissions,
        `${process} asks for ${change.requestId}, number ${asked.submissions.size} within the hour; it may ask ` +
          `for ${most.submissions}`,
      );
    } else if (change.kind === 'RequestReleasing' && change.isGivenUp === true) {
      asked.withdrawals = noteAt(asked.withdrawals, change);
      invariant(
        asked.withdrawals.size <= most.withdrawals,
        `${process} gives up ${change.requestId}, number ${asked.withdrawals.size} within the hour; it may give ` +
          `up ${most.withdrawals}`,
      );
    } else if (change.kind === 'ClockSetBack') {
      asked.submissions = noneAfter(asked.submissions, change.at);
      asked.withdrawals = noneAfter(asked.withdrawals, change.at);
    }
  }

  #mostOf(process: string): typeof requestBudget {
    const site = this.#world.clusters.find(({ provider }) => provider.current?.process.name === process);
    return site?.plan.perHour ?? requestBudget;
  }
}

function noteAt(
  instants: ReadonlyMap<RequestId, Instant>,
  { requestId, at }: { readonly requestId: RequestId; readonly at: Instant },
): Map<RequestId, Instant> {
  return new Map([...instants].filter(([, instant]) => instant > at - hour)).set(requestId, at);
}

function noneAfter(instants: ReadonlyMap<RequestId, Instant>, latest: Instant): Map<RequestId, Instant> {
  return new Map([...instants].map(([requestId, at]) => [requestId, Math.min(at, latest)]));
}
