import { firstComeFirstServed, replayByScores, type ScoredReplay, type ScoredTracedRequest } from '@mutirao/core/queue';
import type { Duration } from '@mutirao/core/shared';
import { scaleSubmissions } from '../../resource/scale-submissions.ts';
import { injectedUsers, getInjections, type BucSettings, type Service, type ServiceFamily } from './setups.ts';
import { inject, type BucTrace } from './trace.ts';

/** What one user got in one run. */
export interface UserOutcome {
  readonly jobCount: number;
  /** Of all jobs of the user. */
  readonly waitSum: Duration;
  /** Mean of the scores that the user's jobs met when they ended, as the rule is fitted. */
  readonly meanScore: number;
  /** Mean of the scores that the user's jobs were queued with. */
  readonly meanScoreAtSubmission: number;
}

/** What one run came to. */
export interface BucRun {
  /** Of the users that are watched, by their name. */
  readonly users: ReadonlyMap<string, UserOutcome>;
  /** Of all requests. */
  readonly waitSum: Duration;
  /** Of the one that waited longest. */
  readonly longestWait: Duration;
  readonly requestCount: number;
}

/** A log at a load under a family of services. */
export interface BucMeasured {
  readonly trace: BucTrace;
  readonly loadFactor: number;
  readonly family: ServiceFamily;
  readonly watched: readonly WatchedUser[];
  /** For each service of the family, in its order, a run for each injection. */
  readonly runs: readonly (readonly BucRun[])[];
}

/** A user whose waiting times are summed up. */
export interface WatchedUser {
  readonly userId: string;
  /** The user's label in the figure. */
  readonly title: string;
}

/** The three real users are taken from this number of frequent ones. */
const frequentMax = 10;

/**
 * The seed's Real 1 to 3: of the ten users with most jobs the one with the worst score, the one nearest to the middle
 * between worst and best, and the best.
 *
 * Scores are those that each user's jobs come to in the log alone, in the order of arrival.
 */
export function chooseRealUsers({ log, requests }: BucTrace): WatchedUser[] {
  const counts = new Map<string, number>();
  for (const { userId } of requests) counts.set(userId, (counts.get(userId) ?? 0) + 1);
  const frequent = [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, frequentMax)
    .map(([userId]) => userId);
  const { users } = summarizeRun(
    requests,
    replayByScores(firstComeFirstServed, undefined, log.processors, requests),
    new Set(frequent),
  );
  const sorted = [...users].sort(([, one], [, other]) => one.meanScore - other.meanScore);
  const [worst, best] = [sorted[0], sorted.at(-1)];
  if (worst === undefined || best === undefined) return [];
  const middle = (worst[1].meanScore + best[1].meanScore) / 2;
  const [middling = worst] = sorted.toSorted(
    ([, one], [, other]) => Math.abs(one.meanScore - middle) - Math.abs(other.meanScore - middle),
  );
  return [worst, middling, best].map(([userId], index) => ({ userId, title: `Real ${index + 1}` }));
}

/** Runs a log at a load, with all injections, under a family of services. */
export function measureBuc(
  trace: BucTrace,
  loadFactor: number,
  family: ServiceFamily,
  settings: BucSettings,
): BucMeasured {
  const watched = [
    ...chooseRealUsers(trace),
    ...injectedUsers.map(({ userId }, index) => ({ userId, title: `Injected ${index + 1}` })),
  ];
  const wanted = new Set(watched.map(({ userId }) => userId));
  const scaled = scaleSubmissions(trace.requests, loadFactor);
  const traces = Array.from({ length: getInjections(settings) }, (_, run) => inject(scaled, trace, settings, run));
  const runAll = ({ policy, order }: Service): BucRun[] =>
    traces.map((requests) =>
      summarizeRun(requests, replayByScores(policy, order, trace.log.processors, requests), wanted),
    );
  return { trace, loadFactor, family, watched, runs: family.services.map(runAll) };
}

/** Sums up a run. @param wanted users to report. */
export function summarizeRun(
  trace: readonly ScoredTracedRequest[],
  { requests }: ScoredReplay,
  wanted: ReadonlySet<string>,
): BucRun {
  const users = new Map<
    string,
    { jobCount: number; waitSum: Duration; meanScore: number; meanScoreAtSubmission: number }
  >();
  let [waitSum, longestWait] = [0, 0];
  trace.forEach(({ userId, submittedAt }, index) => {
    const { startedAt = submittedAt, scoreAtEnd = 0, scoreAtSubmission = 0 } = requests[index] ?? {};
    const wait = startedAt - submittedAt;
    waitSum += wait;
    longestWait = Math.max(longestWait, wait);
    if (!wanted.has(userId)) return;
    const user = users.get(userId) ?? { jobCount: 0, waitSum: 0, meanScore: 0, meanScoreAtSubmission: 0 };
    users.set(userId, user);
    user.jobCount += 1;
    user.waitSum += wait;
    user.meanScore += (scoreAtEnd - user.meanScore) / user.jobCount;
    user.meanScoreAtSubmission += (scoreAtSubmission - user.meanScoreAtSubmission) / user.jobCount;
  });
  return { users, waitSum, longestWait, requestCount: trace.length };
}

/**
 * The waiting times of a user, or of everybody, summed up, in each run of one service. @param service its place in the
 * family.
 */
export function listWaits({ runs }: BucMeasured, service: number, userId: string | undefined): number[] {
  return (runs[service] ?? []).map(({ users, waitSum }) =>
    userId === undefined ? waitSum : (users.get(userId)?.waitSum ?? NaN),
  );
}
