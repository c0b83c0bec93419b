import type { Duration, Instant } from '../shared/index.ts';
import type { BudgetLeft } from './heuristic.ts';

/**
 * What a heuristic may ask of a manager within any hour, in addition to the limits of the resource: enough for a
 * decision every few minutes, too little for a flood.
 */
export const requestBudget: BudgetLeft = { submissions: 60, withdrawals: 30 };

const hour: Duration = 3_600_000;

/** Counts the submissions and withdrawals of the last hour. */
export class RequestBudget {
  readonly #perHour: BudgetLeft;
  /** Instants of the last hour, ascending. */
  readonly #submissions: Instant[] = [];
  readonly #withdrawals: Instant[] = [];

  constructor(perHour: BudgetLeft = requestBudget) {
    this.#perHour = perHour;
  }

  /** What is left now; never less than 0. Cost: O(1) amortised. */
  leftAt(now: Instant): BudgetLeft {
    forget(this.#submissions, now);
    forget(this.#withdrawals, now);
    const { submissions, withdrawals } = this.#perHour;
    return {
      submissions: Math.max(0, submissions - this.#submissions.length),
      withdrawals: Math.max(0, withdrawals - this.#withdrawals.length),
    };
  }

  /** @param now no earlier than what was noted before. */
  noteSubmission(now: Instant): void {
    this.#submissions.push(now);
  }

  /** @param now no earlier than what was noted before. */
  noteWithdrawal(now: Instant): void {
    this.#withdrawals.push(now);
  }
}

function forget(instants: Instant[], now: Instant): void {
  while (instants.length > 0 && (instants[0] as Instant) <= now - hour) instants.shift();
}
