import { requestBudget, type BudgetLeft } from '../../requests/index.ts';
import type { Duration, Instant } from '../../shared/index.ts';
import type { ProviderState } from './state.ts';

/** What a budget is for. */
const hour: Duration = 3_600_000;

/** What a heuristic may ask of the manager within any hour. */
export function getBudget({ config }: ProviderState): BudgetLeft {
  return config.perHour ?? requestBudget;
}

/** What is left of that budget now; never less than 0. Cost: O(budget). */
export function budgetLeft(state: ProviderState, now: Instant): BudgetLeft {
  const { submissions, withdrawals } = getBudget(state);
  const { asked } = state;
  return {
    submissions: Math.max(0, submissions - countSince(asked.submissions, now)),
    withdrawals: Math.max(0, withdrawals - countSince(asked.withdrawals, now)),
  };
}

/** When more may be asked for of what is used up; Infinity while nothing is. */
export function budgetRenewedAt(state: ProviderState, now: Instant): Instant {
  const left = budgetLeft(state, now);
  const timers = [
    left.submissions === 0 ? oldestSince(state.asked.submissions, now) : Infinity,
    left.withdrawals === 0 ? oldestSince(state.asked.withdrawals, now) : Infinity,
  ];
  return Math.min(...timers) + hour;
}

/** Notes that a heuristic drafted a request, whatever becomes of it. */
export function noteSubmission(state: ProviderState, at: Instant): void {
  state.asked.submissions = noteAt(state.asked.submissions, at, getBudget(state).submissions);
}

/** Notes that a heuristic gave a request up. */
export function noteWithdrawal(state: ProviderState, at: Instant): void {
  state.asked.withdrawals = noteAt(state.asked.withdrawals, at, getBudget(state).withdrawals);
}

/**
 * Takes what was asked for or released later than now, by a clock that was set back since, as of now: the hour is not
 * longer for it.
 */
export function setClockBack(state: ProviderState, at: Instant): void {
  const { asked } = state;
  // By how much is not known, so a pause that began by the clock before would last for as long as it was wrong.
  state.pausedUntil = Math.min(state.pausedUntil, at);
  asked.submissions = asked.submissions.map((instant) => Math.min(instant, at));
  asked.withdrawals = asked.withdrawals.map((instant) => Math.min(instant, at));
  for (const request of state.requests.values())
    if (request.unusedAt !== undefined) request.unusedAt = Math.min(request.unusedAt, at);
}

/** Whether something was asked for or released unused later than now. */
export function isClockBehind({ asked, requests }: ProviderState, now: Instant): boolean {
  return (
    [...asked.submissions, ...asked.withdrawals].some((instant) => instant > now) ||
    [...requests.values()].some(({ unusedAt = 0 }) => unusedAt > now)
  );
}

/** No more are kept than may be: with more, nothing is left either way. */
function noteAt(instants: readonly Instant[], at: Instant, most: number): readonly Instant[] {
  return [...instants.filter((instant) => instant > at - hour), at].slice(-Math.max(1, most));
}

function countSince(instants: readonly Instant[], now: Instant): number {
  return instants.filter((instant) => instant > now - hour).length;
}

function oldestSince(instants: readonly Instant[], now: Instant): Instant {
  return instants.find((instant) => instant > now - hour) ?? Infinity;
}
