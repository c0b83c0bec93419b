import type { RequestOrder } from '../../messages/index.ts';
import {
  bucRank,
  countPrecision,
  gainOfTighter,
  newcomer,
  findPrecision,
  type UserScore,
  type WalltimeGain,
} from '../../queue/index.ts';
import type { Instant, UserId } from '../../shared/index.ts';
import type { ClusterChange } from './changes.ts';
import type { ClusterRequest, ClusterState } from './state.ts';

/**
 * Ends whose run time is the user's own doing; of the others nothing is learned, least of all from a request that
 * overran.
 */
const countedReasons: ReadonlySet<string> = new Set(['', 'MUT_RELEASED']);

/** The code of a request of which a process ended with another status than 0; what that wrote last may follow. */
export const commandFailed = 'MUT_COMMAND_FAILED';

/** The score of a user; a newcomer's for one who was never seen. */
export function getScore({ scores }: ClusterState, userId: UserId): UserScore {
  return scores.get(userId) ?? newcomer;
}

/**
 * The rank of a request in the plan, by the score that its user had when it was queued; 0 for all in the order of
 * arrival.
 */
export function findRank(
  { options }: ClusterState,
  { score = newcomer.score, submittedAt, order: { walltime } }: Pick<ClusterRequest, 'score' | 'submittedAt' | 'order'>,
): number {
  return options.order === undefined ? 0 : bucRank(options.order, { score, walltime, submittedAt });
}

/**
 * The change of a user's score by the end of a request at `now`; undefined if there is none: it never ran, ran inside a
 * reservation, overran or was lost.
 */
export function findScoreChange(
  state: ClusterState,
  { order, status, startsAt }: ClusterRequest,
  reason: string,
  now: Instant,
): ClusterChange | undefined {
  const hasRun = status === 'running' || status === 'ending';
  if (
    state.options.order === undefined ||
    !hasRun ||
    order.reservationId !== undefined ||
    !(countedReasons.has(reason) || reason.startsWith(commandFailed))
  )
    return undefined;
  const precision = findPrecision(now - (startsAt ?? now), order.walltime);
  return precision === undefined
    ? undefined
    : { kind: 'ScoreChanged', userId: order.userId, ...countPrecision(getScore(state, order.userId), precision) };
}

/** The gain of a tighter walltime for an order that is about to be queued; undefined without a known one. */
export function findGain(
  state: ClusterState,
  { userId, width, walltime, slot: shape }: RequestOrder,
  now: Instant,
): WalltimeGain | undefined {
  const {
    plan,
    options: { order, policy, walltimeGranularity: granularity },
  } = state;
  if (order === undefined) return undefined;
  return gainOfTighter(
    { order, policy, plan, granularity },
    { user: getScore(state, userId), width, walltime, shape, submittedAt: now },
  );
}

/** A user's score, as reported to clients. */
export interface ScoreEntry extends UserScore {
  readonly userId: UserId;
}

/** Scores by user, the best first; of a single user, also a new one. Cost: O(users x log users). */
export function listScores(state: ClusterState, userId?: UserId): ScoreEntry[] {
  if (userId !== undefined) return [{ userId, ...getScore(state, userId) }];
  return [...state.scores]
    .map(([id, score]) => ({ userId: id, ...score }))
    .sort((one, other) => other.score - one.score || (one.userId < other.userId ? -1 : 1));
}
