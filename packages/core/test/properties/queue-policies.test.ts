import test from 'ava';
import fc from 'fast-check';
import {
  conservativeBackfilling, easyBackfilling, firstComeFirstServed, replayRequests, type QueuePolicy, type TracedRequest,
} from '@mutirao/core/queue';
import { runs } from '@mutirao/testkit';

/** A request of the slow reference: `place` is undefined without a place; `startedAt` and `endedAt` until it happens. */
interface Slow extends TracedRequest { readonly id: number; place?: number; startedAt?: number; endedAt?: number }

/**
 * The slow reference, written from the digest's words alone: whole instants, no profile, no index; what is free is counted anew from
 * the list of requests whenever it is asked for.
 */
class SlowResource {
  readonly capacity: number;
  readonly queue: Slow[] = [];
  running: Slow[] = [];

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  free(at: number, except?: Slow): number {
    let free = this.capacity;
    for (const each of [...this.queue, ...this.running]) {
      if (each !== except && each.place !== undefined && each.place <= at && at < each.place + each.walltime) free -= each.width;
    }
    return free;
  }

  /** What nobody has who runs: whoever's end was not handled yet still has his. */
  unheld(): number {
    return this.running.reduce((left, { width }) => left - width, this.capacity);
  }

  start(request: Slow, now: number): void {
    request.place = now;
    request.startedAt = now;
    this.queue.splice(this.queue.indexOf(request), 1);
    this.running.push(request);
  }

  fits(request: Slow, from: number): boolean {
    for (let at = from; at < from + request.walltime; at += 1) if (this.free(at, request) < request.width) return false;
    return true;
  }

  earliest(request: Slow, from: number): number {
    let at = from;
    while (!this.fits(request, at)) at += 1;
    return at;
  }
}

/** What is done after each submission and each end. */
type SlowPolicy = (resource: SlowResource, now: number, submitted: Slow | undefined) => void;

function startHeads(resource: SlowResource, now: number): Slow | undefined {
  for (let head = resource.queue[0]; head !== undefined; head = resource.queue[0]) {
    if (resource.unheld() < head.width) return head;
    resource.start(head, now);
  }
  return undefined;
}

const slowEasy: SlowPolicy = (resource, now) => {
  const head = startHeads(resource, now);
  if (head === undefined) return;
  let shadow = now;
  while (resource.free(shadow) < head.width) shadow += 1;
  let extra = resource.free(shadow) - head.width;
  for (const request of resource.queue.slice(1)) {
    const endsByShadow = now + request.walltime <= shadow;
    if (resource.unheld() < request.width || (!endsByShadow && request.width > extra)) continue;
    if (!endsByShadow) extra -= request.width;
    resource.start(request, now);
  }
};

const slowStartNow: SlowPolicy = (resource, now, submitted) => {
  if (submitted !== undefined) {
    submitted.place = resource.earliest(submitted, now);
    return;
  }
  const findNext = (): Slow | undefined => resource.queue.find((request) => (request.place ?? 0) > now && resource.fits(request, now));
  for (let next = findNext(); next !== undefined; next = findNext()) next.place = now;
};

const slowReinsert: SlowPolicy = (resource, now, submitted) => {
  for (const request of submitted === undefined ? resource.queue : [submitted]) request.place = resource.earliest(request, now);
};

function slowStarts(policy: SlowPolicy, capacity: number, trace: readonly TracedRequest[]): number[] {
  const resource = new SlowResource(capacity);
  const requests: Slow[] = trace.map((request, id) => ({ ...request, id }));
  for (let now = 0; requests.some(({ endedAt }) => endedAt === undefined); now += 1) {
    for (const request of requests.filter(({ submittedAt }) => submittedAt === now)) {
      resource.queue.push(request);
      policy(resource, now, request);
    }
    for (const request of [...resource.running].filter(({ startedAt = 0, runTime }) => startedAt + runTime === now)) {
      request.endedAt = now;
      resource.running = resource.running.filter((each) => each !== request);
      policy(resource, now, undefined);
    }
    for (const request of resource.queue.filter(({ place }) => place === now)) resource.start(request, now);
  }
  return requests.map(({ startedAt }) => startedAt ?? -1);
}

const pairs: readonly (readonly [QueuePolicy, SlowPolicy])[] = [
  [firstComeFirstServed, (resource, now) => { startHeads(resource, now); }],
  [easyBackfilling, slowEasy],
  [conservativeBackfilling('start-now'), slowStartNow],
  [conservativeBackfilling('reinsert'), slowReinsert],
];

/** Arrivals in bursts, so that the queue is long and many things happen at one instant; half of the requests end early. */
function anyTrace(capacity: number): fc.Arbitrary<TracedRequest[]> {
  const anyRequest = fc.record({
    gap: fc.constantFrom(0, 0, 0, 1, 2, 9), width: fc.integer({ min: 1, max: capacity }), walltime: fc.integer({ min: 1, max: 30 }), share: fc.integer({ min: 1, max: 8 }),
  });
  return fc.array(anyRequest, { minLength: 1, maxLength: 40 }).map((requests) => {
    let at = 0;
    return requests.map(({ gap, width, walltime, share }) => {
      at += gap;
      return { submittedAt: at, width, walltime, runTime: Math.min(walltime, Math.ceil((walltime * share) / 4)) };
    });
  });
}

for (const [policy, slow] of pairs) {
  for (const capacity of [3, 10]) {
    test(`under ${policy.name} on ${capacity} processors the starts are those of a slow reference`, (t) => {
      fc.assert(fc.property(anyTrace(capacity), (trace) => {
        t.deepEqual(replayRequests(policy, capacity, trace).map(({ startedAt }) => startedAt), slowStarts(slow, capacity, trace));
      }), runs(20_250_103, 150));
      t.pass();
    });
  }
}
