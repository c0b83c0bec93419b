import type { Instant, ProcessorCount } from '../../shared/index.ts';
import type { QueuePolicy } from '../queue-policy.ts';
import type { ReplayedRequest, TracedRequest } from '../replay-requests.ts';
import { RequestPlan } from '../request-plan.ts';
import { ResourceReplay } from '../resource-replay.ts';
import { bucRank, type BucOrder } from './buc-order.ts';
import { countPrecision, newcomer, findPrecision, type UserScore } from './user-score.ts';

/** A request of a trace whose user is known. */
export interface ScoredTracedRequest extends TracedRequest {
  readonly userId: string;
  /** Whether it ran longer than it had asked for, so that its precision is discarded. */
  readonly hasOverrun: boolean;
}

/** What one request got in an order by scores. */
export interface ScoredRequest extends ReplayedRequest {
  /** Of its user when it was submitted, which gave it its rank. */
  readonly scoreAtSubmission: number;
  /** Of its user when it ended, before its own precision was counted. */
  readonly scoreAtEnd: number;
}

/** What a trace came to; `requests` is indexed as the trace is. */
export interface ScoredReplay {
  readonly requests: readonly ScoredRequest[];
  readonly scores: ReadonlyMap<string, UserScore>;
}

/**
 * Runs a trace through a policy in the order by scores, each user beginning as a newcomer; scores follow the ends of
 * requests.
 *
 * At one instant: submissions in the trace's order, then ends, as in `replayRequests`.
 *
 * @param order undefined for the order of arrival, in which scores are counted and without effect.
 * @param trace sorted by submission; each width at most `capacity`.
 */
export function replayByScores(
  policy: QueuePolicy,
  order: BucOrder | undefined,
  capacity: ProcessorCount,
  trace: readonly ScoredTracedRequest[],
): ScoredReplay {
  const resource = new ResourceReplay(policy, new RequestPlan(capacity, trace[0]?.submittedAt ?? 0));
  const book = new ScoreBook(trace);
  let submitted = 0;
  const next = (): Instant => Math.min(trace[submitted]?.submittedAt ?? Infinity, resource.nextInstant);
  for (let now = next(); now < Infinity; now = next()) {
    for (let request = trace[submitted]; request?.submittedAt === now; request = trace[submitted]) {
      const score = book.noteSubmission(submitted);
      const rank = order === undefined ? 0 : bucRank(order, { ...request, score });
      const { width, walltime, runTime } = request;
      const place = resource.submit({ id: submitted, width, walltime, runTime, rank }, now);
      // An order by scores promises no places, because a later request may take them.
      book.notePromise(submitted, order === undefined ? place : undefined);
      submitted += 1;
    }
    for (const id of resource.endDue(now)) book.noteEnd(id);
    for (const { id } of resource.startDue(now)) book.noteStart(id, now);
  }
  return { requests: book.requests, scores: book.scores };
}

/** The scores of users, and what each request met. */
class ScoreBook {
  readonly #trace: readonly ScoredTracedRequest[];
  readonly scores = new Map<string, UserScore>();
  readonly requests: {
    promisedAt: Instant | undefined;
    startedAt: Instant;
    scoreAtSubmission: number;
    scoreAtEnd: number;
  }[] = [];

  constructor(trace: readonly ScoredTracedRequest[]) {
    this.#trace = trace;
  }

  /** Returns the score of the request's user. */
  noteSubmission(id: number): number {
    const { score } = this.#getScore(id);
    this.requests[id] = { promisedAt: undefined, startedAt: 0, scoreAtSubmission: score, scoreAtEnd: 0 };
    return score;
  }

  notePromise(id: number, promisedAt: Instant | undefined): void {
    const request = this.requests[id];
    if (request !== undefined) request.promisedAt = promisedAt;
  }

  noteStart(id: number, now: Instant): void {
    const request = this.requests[id];
    if (request !== undefined) request.startedAt = now;
  }

  noteEnd(id: number): void {
    const [traced, request] = [this.#trace[id], this.requests[id]];
    if (traced === undefined || request === undefined) return;
    const user = this.#getScore(id);
    request.scoreAtEnd = user.score;
    const precision = traced.hasOverrun ? undefined : findPrecision(traced.runTime, traced.walltime);
    if (precision !== undefined) this.scores.set(traced.userId, countPrecision(user, precision));
  }

  #getScore(id: number): UserScore {
    return this.scores.get(this.#trace[id]?.userId ?? '') ?? newcomer;
  }
}
