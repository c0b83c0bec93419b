import {
  nextReview,
  reviewPauseMin,
  type DraftedRequest,
  type RequestDecision,
  type RequestFacts,
  type RequestHeuristic,
} from '../../requests/index.ts';
import type { Reason } from '../../reasons/index.ts';
import { invariant, type Instant } from '../../shared/index.ts';
import { budgetLeft, getBudget, budgetRenewedAt } from './asked-lately.ts';
import { getDemand, type Resource } from './decision-facts.ts';
import { boundFirstRequests, describeFirstBound, explainFirstRequests } from './first-requests.ts';
import { giveUp, withdrawUnfit } from './give-up.ts';
import { noteDecision } from './note-decision.ts';
import { isPending, type KnownBroker } from './state.ts';
import { limitsInSlots, slotFor } from './slots.ts';
import { submitDraft } from './submit-draft.ts';
import { askReleases } from './submission.ts';
import type { Turn } from './turn.ts';
import { watchedFacts } from './watched-facts.ts';
import { widenForGang } from './widen-for-gang.ts';

/**
 * Asks a heuristic that watches the queue for each broker that has a trigger, gives up requests that it no longer
 * needs, and submits drafts for the slots that are free now; answers with the reasons, for all of them.
 *
 * A slot is free when the manager has confirmed that its request is gone, so that there are never more requests than it
 * allows; the heuristic then decides again by the facts of that time. Slots and the rest of the hour's budget are
 * shared evenly among the brokers with triggers.
 */
export function askWatching(
  turn: Turn,
  resource: Resource,
  heuristic: RequestHeuristic,
  brokers: readonly KnownBroker[],
): readonly Reason[] {
  const due = brokers.filter((broker) => isDue(turn, broker));
  for (const broker of due) withdrawUnfit(turn, broker, resource.limits);
  due.forEach((broker, index) => {
    askFor(turn, resource, heuristic, { broker, sharers: due.length - index });
  });
  askReleases(turn);
  return brokers.flatMap(({ watch }) => watch.reasons);
}

/** When time alone makes an trigger, or lets one be followed that can wait. */
export function nextAsking({ state }: Turn): Instant[] {
  return [...state.brokers.values()].flatMap(({ watch }) => [
    watch.reviewAt,
    ...(watch.trigger === undefined || watch.trigger === 'own' ? [] : [watch.askedAt + reviewPauseMin]),
  ]);
}

/** What happens to own requests is followed at once, all else once in a while. */
function isDue({ now }: Turn, { watch: { trigger, askedAt } }: KnownBroker): boolean {
  return trigger === 'own' || (trigger !== undefined && (now >= askedAt + reviewPauseMin || now < askedAt));
}

function askFor(
  turn: Turn,
  asked: Resource,
  heuristic: RequestHeuristic,
  { broker, sharers }: { readonly broker: KnownBroker; readonly sharers: number },
): void {
  const { state, now } = turn;
  const slot = slotFor(getDemand(turn, broker), asked.limits);
  const resource = { ...asked, limits: limitsInSlots(asked.limits, slot) };
  const free = freeSlots(turn, resource);
  const slots = free > 0 ? Math.ceil(free / sharers) : free;
  const share = Math.max(0, slots);
  const facts = watchedFacts(turn, resource, { broker, slots, sharers });
  const bound = boundFirstRequests(state, heuristic, broker, facts);
  const decision = heuristic.draft(bound?.facts ?? facts);
  checkDecision(heuristic, facts, { decision, slots });
  noteDecision(turn, heuristic, decision);
  const givenUp = giveUp(turn, broker, decision.givenUp ?? []);
  const pending = facts.pending.filter(({ requestId }) => !givenUp.has(requestId));
  const widened = widenForGang(decision.drafts, getDemand(turn, broker).gangProcessors ?? 0, {
    widthMax: resource.limits.widthMax,
    pending,
  });
  const drafts = explainFirstRequests(bound, widened);
  for (const draft of drafts.slice(0, share))
    submitDraft(turn, broker, draft, { slot, candidates: decision.candidates });
  const { watch } = broker;
  const reviewAt = Math.min(decision.reviewAt ?? Infinity, budgetRenewedAt(state, now));
  watch.reviewAt = nextReview({ reviewAt }, { now, trigger: watch.trigger, before: watch.reviewAt });
  watch.trigger = undefined;
  watch.askedAt = now;
  watch.demand = broker.demand;
  watch.endedCount = broker.taskTimes.count;
  watch.reasons = [
    ...describeFirstBound(bound),
    ...decision.reasons,
    ...describeListing(turn, facts),
    ...describeWait(drafts, share),
    describeBudget(turn),
  ];
}

/**
 * Less than 0 if the limits have become smaller than the number of pending requests: then giving one up frees no slot
 * for another.
 */
function freeSlots({ state }: Turn, { limits }: Resource): number {
  return limits.requestsMax - [...state.requests.values()].filter(isPending).length;
}

function checkDecision(
  { name }: RequestHeuristic,
  { budget, pending, limits }: RequestFacts,
  { decision, slots }: { readonly decision: RequestDecision; readonly slots: number },
): void {
  const { drafts, givenUp = [] } = decision;
  invariant(
    drafts.length <= Math.max(0, slots + givenUp.length),
    `${name} drafted ${drafts.length} requests for ${slots} free slots and ${givenUp.length} that it gives up`,
  );
  invariant(
    budget !== undefined && drafts.length <= budget.submissions,
    `${name} drafted ${drafts.length} requests, ${budget?.submissions} left of this hour`,
  );
  invariant(
    givenUp.length <= budget.withdrawals,
    `${name} gave up ${givenUp.length} requests, ${budget.withdrawals} left of this hour`,
  );
  for (const { requestId } of givenUp)
    invariant(
      pending.some((request) => request.requestId === requestId),
      `${name} gives up ${requestId}, which is not pending`,
    );
  for (const { width, walltime } of drafts) {
    invariant(
      width >= 1 && width <= limits.widthMax && walltime >= 1 && walltime <= limits.walltimeMax,
      `${name} drafted ${width} processors for ${walltime} ms; the resource gives ${limits.widthMax} for ` +
        `${limits.walltimeMax} ms`,
    );
  }
}

function describeListing({ state }: Turn, { listingState }: RequestFacts): Reason[] {
  if (listingState === 'stale') return [{ code: 'queue-stale', trouble: state.listingFailure }];
  return listingState === 'hidden' ? [{ code: 'queue-hidden' }] : [];
}

function describeWait(drafts: readonly DraftedRequest[], share: number): Reason[] {
  const waiting = drafts.length - share;
  return waiting > 0 ? [{ code: 'requests-after-withdrawal', requests: waiting }] : [];
}

function describeBudget({ state, now }: Turn): Reason {
  const { submissions, withdrawals } = budgetLeft(state, now);
  const [most, renewed] = [getBudget(state), budgetRenewedAt(state, now)];
  return {
    code: 'hourly-budget',
    submissions,
    submissionsMax: most.submissions,
    withdrawals,
    withdrawalsMax: most.withdrawals,
    ...(renewed < Infinity ? { renewalMs: renewed - now } : {}),
  };
}
