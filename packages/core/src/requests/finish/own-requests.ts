import type { Duration, Instant, ProcessorCount } from '../../shared/index.ts';
import type { ObservedWait, PendingRequest, RequestFacts } from '../heuristic.ts';
import { lanesIn } from '../obstacle.ts';
import type { FinishConstants } from './constants.ts';
import { startBeside, type Lanes } from './draining.ts';
import type { Skyline } from './skyline.ts';

/** An own request as plans see it; times are counted from now. */
export interface OwnRequestView {
  readonly request: PendingRequest;
  readonly isRunning: boolean;
  /** What it holds of the resource, by the queue's promises. */
  readonly start: Duration;
  readonly end: Duration;
  readonly width: ProcessorCount;
  /** What it brings, when it is expected to. */
  readonly lanes: readonly Lanes[];
  /** When its slot is expected to be free again. */
  readonly slotEnd: Duration;
}

/** Shorter promises say nothing of how much is promised too late. */
const promisedMin: Duration = 60_000;
/** Only the latest count: a queue changes. */
const waitsMax = 50;

/**
 * The share of their promised wait that requests really wait, by those that started and those that wait: users ask for
 * too much time, so most wait less.
 *
 * Of a request that still waits, the share is read from how fast its promised start comes nearer: if faster than the
 * clock, that is expected to go on. So a queue that moves all requests forward when a job ends early is distinguished
 * from one that keeps its promises, before a request that waits for days has started.
 */
export function estimateWaitShare(
  { waits = [], pending, now }: Pick<RequestFacts, 'waits' | 'pending' | 'now'>,
  { waitShare, waitShareWeight, waitedMin }: FinishConstants,
): number {
  let sum = waitShare * waitShareWeight;
  let weight = waitShareWeight;
  for (const { promised, actual } of [
    ...waits.slice(-waitsMax),
    ...pending.flatMap((request) => watchWait(request, { now, waitedMin })),
  ]) {
    if (promised < promisedMin) continue;
    sum += Math.min(1, actual / promised);
    weight += 1;
  }
  return sum / weight;
}

/**
 * How long a waiting request has waited, and how much of its promise that has used up: at least what the clock shows,
 * because a request that is moved back gets its full promised wait at best.
 */
function watchWait(
  { status, submittedAt, promisedStart, predictedStart }: PendingRequest,
  { now, waitedMin }: { readonly now: Instant; readonly waitedMin: Duration },
): Pick<ObservedWait, 'promised' | 'actual'>[] {
  if (status === 'running' || submittedAt === undefined || promisedStart === undefined || predictedStart === undefined)
    return [];
  const actual = now - submittedAt;
  return actual < waitedMin
    ? []
    : [{ promised: Math.max(actual, promisedStart - submittedAt - (predictedStart - now)), actual }];
}

/**
 * Whether the manager seems to move no request forward: of the own requests that have waited for a while, and there is
 * at least one, none has come nearer than it was promised. Then a withdrawn request seems to leave its place to the
 * next new request, and not to those behind it. A guess: there may have been no early ends for a while.
 */
export function keepsPlaces(
  { pending, now }: Pick<RequestFacts, 'pending' | 'now'>,
  { waitedMin }: Pick<FinishConstants, 'waitedMin'>,
): boolean {
  const seen = pending.filter(
    ({ status, submittedAt = now }) => status !== 'running' && now - submittedAt >= waitedMin,
  );
  return (
    seen.length > 0 &&
    seen.every(
      ({ promisedStart, predictedStart }) =>
        promisedStart !== undefined && predictedStart !== undefined && predictedStart >= promisedStart,
    )
  );
}

/** How own requests are viewed. */
export interface OwnView {
  readonly facts: RequestFacts;
  /** With the own requests in it. */
  readonly skyline: Skyline;
  readonly waitShare: number;
  /** The places of requests without a promise by the reading of the queue, by their names in the listing, from now. */
  readonly places: ReadonlyMap<string, Duration>;
}

/**
 * The own requests in their order. A waiting one is expected after a share of its promised wait, but not before the own
 * ones have ended that leave no place for it: they hold their processors until their end.
 *
 * A waiting request that is wider than the resource has become delays no other. Cost: O(requests squared + groups of
 * tasks), cubed for those of the whole machine (a thousand: 0.2 s), and a search for each place that is not known.
 */
export function viewOwn(requests: readonly PendingRequest[], view: OwnView): OwnRequestView[] {
  const {
    facts: {
      limits,
      demand: { processors: perTask },
    },
  } = view;
  const most = lanesIn(limits.processors, perTask);
  const plain = requests.map((request) => viewAlone(request, view));
  const ahead = plain.flatMap(({ isRunning, lanes }) => (isRunning ? lanes : []));
  const views = new Map<OwnRequestView, OwnRequestView>();
  for (const one of plain.filter(({ isRunning }) => !isRunning).sort((first, other) => first.start - other.start)) {
    const lanes = one.lanes.map((lane) => postpone(lane, startBeside(ahead, lane, most)));
    if (one.width <= limits.processors) ahead.push(...lanes);
    views.set(one, { ...one, lanes, slotEnd: Math.max(...lanes.map(({ end }) => end)) });
  }
  return plain.map((one) => views.get(one) ?? one);
}

function postpone({ from, end, ...lane }: Lanes, start: Duration): Lanes {
  return { ...lane, from: start, end: start + end - from };
}

function viewAlone(
  request: PendingRequest,
  {
    facts: {
      now,
      demand: { processors: perTask },
    },
    skyline,
    waitShare,
    places,
  }: OwnView,
): OwnRequestView {
  const { width, walltime, status, startedAt, predictedStart, listedAs = '' } = request;
  const count = lanesIn(width, perTask);
  if (status === 'running') {
    const end = Math.max(0, startedAt + walltime - now);
    return {
      request,
      isRunning: true,
      start: 0,
      end,
      width,
      lanes: runningLanes(request, { count, end, perTask }),
      slotEnd: end,
    };
  }
  const start = Math.max(
    0,
    predictedStart === undefined
      ? (places.get(listedAs) ?? skyline.findEarliest(width, walltime))
      : predictedStart - now,
  );
  const from = start * waitShare;
  return {
    request,
    isRunning: false,
    start,
    end: start + walltime,
    width,
    lanes: [{ count, from, age: 0, end: from + walltime }],
    slotEnd: from + walltime,
  };
}

function runningLanes(
  { tasks, idle = 0 }: PendingRequest,
  { count, end, perTask }: { readonly count: number; readonly end: Duration; readonly perTask: ProcessorCount },
): Lanes[] {
  if (tasks === undefined) return [{ count, from: 0, age: 0, end }];
  const busy = tasks.map((group) => ({ count: group.count, from: 0, age: Math.max(1, group.time), end }));
  const free = lanesIn(idle, perTask);
  return free > 0 ? [...busy, { count: free, from: 0, age: 0, end }] : busy;
}
