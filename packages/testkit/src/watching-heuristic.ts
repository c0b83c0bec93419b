import type { PendingRequest, RequestDecision, RequestFacts, RequestHeuristic } from '@mutirao/core/requests';

/**
 * A small heuristic that watches the queue, for tests of what drives one; it keeps what it was asked with.
 *
 * It fills every slot with 4 processors, or as many as there are tasks, for three times the longest task, as long as it
 * may before one has ended. It gives up a waiting
 * request that is more than twice as long as that, and while no task has ended it asks for a review after 60 s.
 */
export class WatchingHeuristic implements RequestHeuristic {
  readonly name = 'watching';
  readonly decidesAt = 'queue events';
  readonly releasesIdle = true;
  /** Of each time that it was asked, oldest first. */
  readonly asked: RequestFacts[] = [];

  /** The only heuristic that the provider can find. */
  readonly find = (name: string): RequestHeuristic | undefined => (name === this.name ? this : undefined);

  draft(facts: RequestFacts): RequestDecision {
    this.asked.push(facts);
    const { pending, limits, demand, taskTimes, budget = { submissions: Infinity, withdrawals: Infinity } } = facts;
    const walltime = Math.min(limits.walltimeMax, 3 * (taskTimes?.longest ?? Infinity));
    const unwanted = pending
      .filter((request) => request.status === 'queued' && request.walltime > 2 * walltime)
      .slice(0, budget.withdrawals);
    const slots = Math.min(limits.requestsMax - pending.length + unwanted.length, budget.submissions);
    const width = Math.min(4, limits.widthMax, demand.pendingTasks);
    return {
      drafts: Array.from({ length: Math.max(0, slots) }, () => ({
        width,
        walltime,
        reasons: [{ code: 'initial-free-now', processors: width, walltimeMs: walltime }],
      })),
      givenUp: unwanted.map(({ requestId }) => ({
        requestId,
        reasons: [{ code: 'finish-withdrawn-for-better' }],
      })),
      reasons: [
        { code: 'unknown-reason', reasonCode: 'test', words: `Asked because of ${facts.trigger ?? 'nothing'}.` },
      ],
      ...(taskTimes === undefined ? { reviewAt: facts.now + 60_000 } : {}),
    };
  }
}

/** What a heuristic was asked with, in one line. */
export function describeFacts({
  now,
  trigger,
  pending,
  demand,
  budget,
  listingState,
  cutOff = [],
  waits = [],
  taskSpread,
  limits,
}: RequestFacts): string {
  const groups = (tasks: readonly { readonly count: number; readonly time: number }[] = []): string =>
    tasks.map(({ count, time }) => `${count}x${time}`).join('+');
  const shown = ({ requestId, status, idle, tasks, promisedStart, predictedStart, listedAs }: PendingRequest): string =>
    [
      `${requestId}=${status}`,
      ...(idle === undefined ? [] : [`idle:${idle}`]),
      ...(tasks === undefined || tasks.length === 0 ? [] : [`tasks:${groups(tasks)}`]),
      ...(promisedStart === undefined ? [] : [`promised:${promisedStart}`]),
      ...(predictedStart === undefined ? [] : [`predicted:${predictedStart}`]),
      ...(listedAs === undefined ? ['unlisted'] : []),
    ].join(',');
  return [
    `at ${now}, ${trigger ?? 'no trigger'}: ${demand.pendingTasks} tasks, ${limits.requestsMax} slots, budget ` +
      `${budget?.submissions}/${budget?.withdrawals}, ${listingState ?? 'no listing state'}`,
    ...pending.map(shown),
    ...(cutOff.length === 0 ? [] : [`cut off ${groups(cutOff)}`]),
    ...waits.map(({ promised, actual }) => `waited ${actual} of ${promised}`),
    ...(taskSpread === undefined ? [] : [`spread ${taskSpread.shortest} ${taskSpread.deviation}`]),
  ].join('; ');
}
