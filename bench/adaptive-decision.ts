import { sayReason } from '@mutirao/api/reasons';
import type { QueuedRequest } from '@mutirao/core/messages';
import {
  adaptiveHeuristic,
  finishHeuristic,
  heuristicDefaults,
  type HeuristicOptions,
  type PendingRequest,
  type RequestFacts,
  type RequestHeuristic,
} from '@mutirao/core/requests';
import { conservativeBackfilling, RequestPlan } from '@mutirao/core/queue';
import { below, median, option, plain, report } from './harness.ts';

/**
 * Measures one decision of the adaptive heuristic and of `finish`: the queue's listing in, requests and reasons out.
 *
 * The queue is made up, from a fixed seed: 128 processors, widths 1 to 64, walltimes 1 min to 18 h, and each request at
 * the place
 * that conservative backfilling promised it. Prints a table and JSON.
 *
 * `node bench/adaptive-decision.ts [--requests N] [--rounds N]`
 */
const requestCount = option('requests', 10_000);
const rounds = option('rounds', 21);
const processors = 128;
const minute = 60_000;
const hour = 60 * minute;

/** Whole numbers below `limit`, the same in every run. */
function makeDraw(): (limit: number) => number {
  let state = 20_250_101;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** The places that conservative backfilling promises, one arrival after the other, all at one instant. */
function makeQueue(count: number): QueuedRequest[] {
  const draw = makeDraw();
  const plan = new RequestPlan(processors, 0);
  const policy = conservativeBackfilling('start-now');
  for (let id = 0; id < count; id += 1) {
    plan.add(id, 2 ** draw(7), (1 + draw(draw(4) === 0 ? 1080 : 120)) * minute);
    policy.onSubmitted(plan, id, 0, (placed, startsAt) => {
      plan.place(placed, startsAt);
    });
  }
  return [...plan.waiting.values()].map(({ id, width, walltime, startsAt = 0 }) => ({
    managerRequestId: String(id),
    userId: 'local',
    width,
    walltime,
    status: startsAt === 0 ? 'running' : 'queued',
    submittedAt: id,
    startsAt,
    endedAt: 0,
    endReason: '',
    clientRequestId: '',
  }));
}

function listFacts(requests: readonly QueuedRequest[], options: HeuristicOptions): RequestFacts {
  const held = requests.filter(({ status }) => status === 'running').reduce((sum, { width }) => sum + width, 0);
  return {
    now: 0,
    limits: { processors, requestsMax: 6, walltimeMax: 18 * hour, widthMax: processors, walltimeGranularity: 1000 },
    listing: { at: 0, processorsFree: processors - held, requests },
    pending: [],
    served: [],
    demand: { pendingTasks: 10_000, processors: 1, deadline: undefined },
    taskTimes: { longest: 20 * minute, mean: 15 * minute, count: 100 },
    options,
  };
}

/** Milliseconds of a decision, the middle one of `rounds` after as many to warm up. */
function measure(facts: RequestFacts, heuristic: RequestHeuristic = adaptiveHeuristic): number {
  const times: number[] = [];
  for (let round = 0; round < 2 * rounds; round += 1) {
    const start = performance.now();
    heuristic.draft(facts);
    times.push(performance.now() - start);
  }
  return median(times.slice(rounds));
}

/** Six own requests that wait at the end of the queue and elsewhere; all may be exchanged. */
function getOwn(requests: readonly QueuedRequest[]): PendingRequest[] {
  const waiting = requests.filter(({ status }) => status === 'queued');
  return Array.from({ length: 6 }, (_, index) => waiting[Math.floor(((index + 1) * (waiting.length - 1)) / 6)])
    .filter((request) => request !== undefined)
    .map(({ managerRequestId, width, walltime, startsAt }) => ({
      requestId: `q${managerRequestId}`,
      listedAs: managerRequestId,
      width,
      walltime,
      status: 'queued',
      startedAt: 0,
      submittedAt: 0,
      predictedStart: startsAt,
    }));
}

const promised = makeQueue(requestCount);
const unpromised = promised.map((request) => (request.status === 'queued' ? { ...request, startsAt: 0 } : request));
const decision = adaptiveHeuristic.draft(listFacts(promised, heuristicDefaults));
console.error(decision.reasons[0] === undefined ? '' : sayReason(decision.reasons[0]));
report('adaptive-decision', [
  below(
    `one decision on ${requestCount} requests, each with its promised start`,
    measure(listFacts(promised, heuristicDefaults)),
    'ms',
    10,
  ),
  plain('... on twice as many', measure(listFacts(makeQueue(2 * requestCount), heuristicDefaults)), 'ms'),
  plain('... without promised starts, each placed again', measure(listFacts(unpromised, heuristicDefaults)), 'ms'),
  plain(
    '... with the best holes first',
    measure(listFacts(promised, { ...heuristicDefaults, holes: 'best-first' })),
    'ms',
  ),
  below(
    `one decision of finish on ${requestCount} requests, six slots free`,
    measure(listFacts(promised, heuristicDefaults), finishHeuristic),
    'ms',
    10,
  ),
  below(
    '... of which nothing is known but the queue',
    measure({ ...listFacts(promised, heuristicDefaults), taskTimes: undefined }, finishHeuristic),
    'ms',
    25,
  ),
  below(
    '... with six own requests that may be exchanged',
    measure({ ...listFacts(promised, heuristicDefaults), pending: getOwn(promised) }, finishHeuristic),
    'ms',
    10,
  ),
  plain(
    '... without promised starts, each placed again',
    measure(listFacts(unpromised, heuristicDefaults), finishHeuristic),
    'ms',
  ),
  plain(
    '... with all maximal rectangles',
    measure(listFacts(promised, { ...heuristicDefaults, holes: 'maximal' })),
    'ms',
  ),
]);
