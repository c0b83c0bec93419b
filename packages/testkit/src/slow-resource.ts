import type { TracedRequest } from '@mutirao/core/queue';

/**
 * A request of the slow reference: `place` is undefined without a place; `startedAt` and `endedAt` until it happens.
 */
export interface SlowRequest extends TracedRequest {
  readonly id: number;
  place?: number;
  startedAt?: number;
  endedAt?: number;
}

/**
 * The slow reference, written from the digest's words alone: whole instants, no profile, no index; what is free is
 * counted again from
 * the list of requests whenever it is asked for.
 */
export class SlowResource {
  readonly capacity: number;
  readonly queue: SlowRequest[] = [];
  running: SlowRequest[] = [];

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  free(at: number, except?: SlowRequest): number {
    let free = this.capacity;
    for (const each of [...this.queue, ...this.running]) {
      if (each !== except && each.place !== undefined && each.place <= at && at < each.place + each.walltime)
        free -= each.width;
    }
    return free;
  }

  /** What nobody has who runs: whoever's end was not handled yet still has his. */
  unheld(): number {
    return this.running.reduce((left, { width }) => left - width, this.capacity);
  }

  start(request: SlowRequest, now: number): void {
    request.place = now;
    request.startedAt = now;
    this.queue.splice(this.queue.indexOf(request), 1);
    this.running.push(request);
  }

  fits(request: SlowRequest, from: number): boolean {
    for (let at = from; at < from + request.walltime; at += 1) if (this.free(at, request) < request.width) return false;
    return true;
  }

  earliest(request: SlowRequest, from: number): number {
    let at = from;
    while (!this.fits(request, at)) at += 1;
    return at;
  }
}

/** What is done after each submission and each end. */
export type SlowPolicy = (resource: SlowResource, now: number, submitted: SlowRequest | undefined) => void;

/** First come, first served: returns the head that does not fit. */
export function startHeads(resource: SlowResource, now: number): SlowRequest | undefined {
  for (let head = resource.queue[0]; head !== undefined; head = resource.queue[0]) {
    if (resource.unheld() < head.width) return head;
    resource.start(head, now);
  }
  return undefined;
}

/** EASY backfilling. */
export const slowEasy: SlowPolicy = (resource, now) => {
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

/** Places a request that came and may go before others: those behind it give way where that serves it. */
function slowInsert(resource: SlowResource, now: number, submitted: SlowRequest): void {
  const resourceStatus = resource.earliest(submitted, now);
  const behind = resource.queue
    .slice(resource.queue.indexOf(submitted) + 1)
    .filter(({ place }) => place !== undefined && place > now);
  const places = behind.map(({ place }) => place);
  for (const request of behind) delete request.place;
  submitted.place = resource.earliest(submitted, now);
  behind.forEach((request, index) => {
    const former = places[index];
    if (submitted.place !== resourceStatus) request.place = resource.earliest(request, now);
    else if (former !== undefined) request.place = former;
  });
}

/** Conservative backfilling, `start-now`. */
export const slowStartNow: SlowPolicy = (resource, now, submitted) => {
  if (submitted !== undefined) return slowInsert(resource, now, submitted);
  const findNext = (): SlowRequest | undefined =>
    resource.queue.find((request) => (request.place ?? 0) > now && resource.fits(request, now));
  for (let next = findNext(); next !== undefined; next = findNext()) next.place = now;
};

/** Conservative backfilling, `reinsert`. */
export const slowReinsert: SlowPolicy = (resource, now, submitted) => {
  if (submitted !== undefined) return slowInsert(resource, now, submitted);
  for (const request of resource.queue) request.place = resource.earliest(request, now);
};

/**
 * When each request of a trace starts.
 *
 * @param orders puts the queue into its order before each decision; it is that of arrival when left out.
 */
export function slowStarts<T extends TracedRequest>(
  policy: SlowPolicy,
  capacity: number,
  trace: readonly T[],
  orders?: (queue: (T & SlowRequest)[], now: number) => void,
): number[] {
  const resource = new SlowResource(capacity);
  const decide = (now: number, submitted: SlowRequest | undefined): void => {
    orders?.(resource.queue as (T & SlowRequest)[], now);
    policy(resource, now, submitted);
  };
  const requests: (T & SlowRequest)[] = trace.map((request, id) => ({ ...request, id }));
  for (let now = 0; requests.some(({ endedAt }) => endedAt === undefined); now += 1) {
    for (const request of requests.filter(({ submittedAt }) => submittedAt === now)) {
      resource.queue.push(request);
      decide(now, request);
    }
    for (const request of [...resource.running].filter(({ startedAt = 0, runTime }) => startedAt + runTime === now)) {
      request.endedAt = now;
      resource.running = resource.running.filter((each) => each !== request);
      decide(now, undefined);
    }
    for (const request of resource.queue.filter(({ place }) => place === now)) resource.start(request, now);
  }
  return requests.map(({ startedAt }) => startedAt ?? -1);
}
