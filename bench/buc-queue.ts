// The order by scores: how long the next request takes to find as the queue grows, though every R grows with time.
import {
  bucRank,
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  RequestPlan,
  ResourceReplay,
  usualLeadMax,
  type BucOrder,
  type QueuePolicy,
} from '@mutirao/core/queue';
import { Prng } from '@mutirao/core/shared';
import { below, option, plain, report, type Figure } from './harness.ts';

const queueMax = option('queue', 100_000);
const rounds = option('rounds', 5);
const ends = option('ends', 5000);
const order: BucOrder = { weight: 1440, leadMax: usualLeadMax(1440) };

/** Milliseconds of this thread's processor time, so that a busy machine does not count. */
function timed(work: () => void): number {
  const { user, system } = process.cpuUsage();
  work();
  const spent = process.cpuUsage({ user, system });
  return (spent.user + spent.system) / 1000;
}

/** Requests with scores, walltimes and widths drawn at random, so that each takes its place anywhere in the queue. */
class Crowd {
  readonly resource: ResourceReplay;
  readonly #prng = new Prng('buc');
  #nextId = 0;

  constructor(policy: QueuePolicy, waiting: number) {
    this.resource = new ResourceReplay(policy, new RequestPlan(128, 0));
    while (this.resource.plan.waiting.size < waiting) {
      this.arrive(0);
      this.resource.startDue(0);
    }
  }

  arrive(now: number): void {
    const walltime = 1000 * (1 + this.#prng.below(36_000));
    const rank = bucRank(order, { score: 100 * this.#prng.fraction(), walltime, submittedAt: now });
    const runTime = Math.max(1, Math.round(walltime * this.#prng.fraction()));
    this.resource.submit({ id: this.#nextId++, width: 1 + this.#prng.below(64), walltime, runTime, rank }, now);
  }

  /** Ends `endCount` requests, with one arrival after each start; returns the number of events. */
  run(waiting: number, endCount: number): number {
    let events = 0;
    for (let ended = 0; ended < endCount; ) {
      const now = this.resource.nextInstant;
      for (let missing = waiting - this.resource.plan.waiting.size; missing > 0; missing -= 1, events += 1)
        this.arrive(now);
      const count = this.resource.endDue(now).length;
      ended += count;
      events += count + this.resource.startDue(now).length;
    }
    return events;
  }
}

/** Microseconds per event. */
function timePerEvent(policy: QueuePolicy, waiting: number, endCount: number): number {
  const crowd = new Crowd(policy, waiting);
  crowd.run(waiting, endCount / 5);
  let events = 0;
  const time = timed(() => {
    events = crowd.run(waiting, endCount);
  });
  return (1000 * time) / events;
}

/**
 * Milliseconds to find the largest R by looking at all of them, as one would who did not know that the order stands.
 */
function timeOfLooking(waiting: number): number {
  const prng = new Prng('look');
  const queue = Array.from({ length: waiting }, () => ({
    score: 100 * prng.fraction(),
    walltime: 1000 * (1 + prng.below(36_000)),
    submittedAt: prng.below(1e9),
  }));
  let sum = 0;
  const time = timed(() => {
    for (let look = 0; look < 20; look += 1) {
      let most = -Infinity;
      for (const { score, walltime, submittedAt } of queue)
        most = Math.max(most, (score * 0.8 + (1 / (walltime / 1e8)) * 0.2) * 1440 + (1e9 + look - submittedAt) / 1000);
      sum += most;
    }
  });
  return sum > 0 ? time / 20 : NaN;
}

/**
 * Places are given ahead, so that who passes others has all behind it placed again: that grows with the queue, which is
 * no longer than this here.
 */
function measureConservative(): Figure[] {
  return [100, 1000].map((size) =>
    plain(
      `conservative by scores, ${size} waiting, per event`,
      timePerEvent(conservativeBackfilling('start-now'), size, 500),
      'us',
    ),
  );
}

function measure(policy: QueuePolicy): Figure[] {
  const sizes = [1000, 10_000, 100_000].filter((size) => size <= queueMax);
  const times = sizes.map(() => Infinity);
  // The least of several rounds that take the sizes in turn: what disturbs a measurement only ever adds to it.
  for (let round = 0; round < rounds; round += 1)
    sizes.forEach((size, index) => {
      times[index] = Math.min(times[index] ?? Infinity, timePerEvent(policy, size, ends));
    });
  const growths = times.slice(1).map((time, index) => time / (times[index] ?? 1));
  return [
    ...sizes.map((size, index) =>
      plain(`${policy.name} by scores, ${size} waiting, per event`, times[index] ?? 0, 'us'),
    ),
    below(`ten times the queue under ${policy.name} by scores: time grows`, Math.max(...growths), 'times', 3),
  ];
}

report('buc queue', [
  ...measure(firstComeFirstServed),
  ...measure(easyBackfilling),
  ...measureConservative(),
  plain(`looking at ${queueMax} waiting for the largest R`, timeOfLooking(queueMax), 'ms'),
]);
