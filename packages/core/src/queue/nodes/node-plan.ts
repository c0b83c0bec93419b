import { plainSlot, type Slot } from '../../resources/index.ts';
import { invariant, InvariantError } from '../../shared/index.ts';
import type { Instant, ProcessorCount } from '../../shared/index.ts';
import type { Ahead } from '../order-tree.ts';
import { EntryList, PlanEntry, type PlannedRequest, type RequestList } from '../request-list.ts';
import type { RankedRequest, RequestTerms } from '../request-plan.ts';
import { chooseParts, type FreeNode } from './choose-parts.ts';
import { countSlotsIn, listAmounts, type ClusterNode, type NodeAmounts, type NodePart } from './cluster-node.ts';
import { NodeTimeline } from './node-timeline.ts';

/**
 * The requests of a cluster whose nodes have processors, memory and GPUs: as `RequestPlan`, but a place is a time and
 * parts of nodes.
 *
 * Invariant: each timeline is its node minus the parts there of every placed or running request over [startsAt,
 * startsAt + walltime). It is changed by `add`, `place`, `start` and `end` alone. Such clusters are small: n requests
 * are walked through, and a search for a place costs O(n x nodes x log n).
 */
export class NodePlan {
  readonly kind = 'nodes';
  readonly nodes: readonly ClusterNode[];
  /**
   * Positions of nodes that get no request, since they are away; what runs there keeps its parts until it has ended.
   */
  readonly away: ReadonlySet<number>;
  readonly #waiting = new EntryList();
  readonly #running = new EntryList();
  readonly #timelines: readonly NodeTimeline[];
  /** Of placed and running requests. */
  readonly #parts = new Map<number, readonly NodePart[]>();
  #addedCount = 0;
  #from: Instant;

  /** @param from nothing before it matters. */
  constructor(nodes: readonly ClusterNode[], away: Iterable<number>, from: Instant) {
    this.nodes = nodes;
    this.away = new Set(away);
    this.#timelines = nodes.map((node) => new NodeTimeline(node, from));
    this.#from = from;
  }

  /** Processors of nodes that are not away. */
  get capacity(): ProcessorCount {
    return this.nodes.reduce((sum, { processors }, index) => (this.away.has(index) ? sum : sum + processors), 0);
  }

  /** The first instant that the plan knows. */
  get from(): Instant {
    return this.#from;
  }

  /** As of `RequestPlan`, and likewise below. */
  get waiting(): RequestList {
    return this.#waiting;
  }

  get running(): RequestList {
    return this.#running;
  }

  /** Cost: O(n). */
  get firstUnplaced(): PlannedRequest | undefined {
    for (const entry of this.#waiting.values()) if (entry.place === Infinity) return entry;
    return undefined;
  }

  /** What a placed or running request has of nodes; nothing without a place. */
  getParts(id: number): readonly NodePart[] {
    return this.#parts.get(id) ?? [];
  }

  /** Adds a request without a place, behind all of its rank or a lower one. Cost: O(behind). */
  add(id: number, terms: RequestTerms, rank = 0): void {
    const entry = new PlanEntry(this.#addedCount, rank, { id, ...terms });
    this.#addedCount += 1;
    let previous = this.#waiting.last;
    while (previous !== undefined && previous.rank > rank) previous = previous.previous;
    this.#waiting.insert(entry, previous);
  }

  /** Gives a waiting request a place, or takes its own away. @throws {InvariantError} when it does not fit there. */
  place(id: number, startsAt: Instant | undefined, parts: readonly NodePart[] = []): void {
    const entry = this.#getWaiting(id);
    this.#vacate(entry);
    this.#parts.delete(id);
    entry.place = Infinity;
    if (startsAt === undefined) return;
    const processors = parts.reduce((sum, part) => sum + part.processors, 0);
    invariant(processors === entry.width, () => `request ${id} of ${entry.width} processors is given ${processors}`);
    entry.place = startsAt;
    this.#parts.set(id, parts);
    this.#occupy(entry);
  }

  /** Makes a placed request a running one. */
  start(id: number): void {
    const entry = this.#getWaiting(id);
    if (entry.place === Infinity) throw new InvariantError(`request ${id} starts without a place`);
    this.#waiting.remove(entry);
    this.#running.append(entry);
  }

  /** Takes a request out; what it would still have held is free again. */
  end(id: number, at: Instant): void {
    const running = this.#running.get(id);
    const entry = running ?? this.#getWaiting(id);
    const end = entry.place + entry.walltime;
    if (entry.place < Infinity && at < end) this.#release(entry, Math.max(at, entry.place), end);
    this.#parts.delete(id);
    if (running === undefined) this.#waiting.remove(entry);
    else this.#running.remove(running);
  }

  /** Forgets what was before an instant. */
  forget(before: Instant): void {
    this.#from = Math.max(this.#from, before);
    for (const timeline of this.#timelines) timeline.forget(before);
  }

  /** Waiting requests whose place begins now or has begun, in their order. Cost: O(n). */
  findDue(now: Instant): PlannedRequest[] {
    return [...this.#waiting.values()].filter(({ place }) => place <= now);
  }

  /** The earliest start after `now` of a waiting request; Infinity without one. Cost: O(n). */
  nextStartAfter(now: Instant): Instant {
    let next = Infinity;
    for (const { place } of this.#waiting.values()) if (place > now) next = Math.min(next, place);
    return next;
  }

  /** @throws {InvariantError} when there is no such waiting request. */
  getWaiting(id: number): PlannedRequest {
    return this.#getWaiting(id);
  }

  /** Whether a waiting request without a place can start now, next to all that runs, is due or has a place. */
  canStart({ id }: PlannedRequest, now: Instant): boolean {
    const entry = this.#getWaiting(id);
    return this.#choose(entry, now, this.#listHeld(now)) !== undefined;
  }

  /** Whether a request that has no place would fit at an instant, for its whole walltime. */
  fits({ id }: PlannedRequest, startsAt: Instant): boolean {
    return this.#choose(this.#getWaiting(id), startsAt) !== undefined;
  }

  /**
   * The parts of nodes that a waiting request gets at an instant; now, those that are really free if there are any.
   * @throws {InvariantError} when it does not fit there.
   */
  findParts(id: number, startsAt: Instant, now: Instant): readonly NodePart[] {
    const entry = this.#getWaiting(id);
    const parts = this.#withoutPlace(entry, () => {
      const free = startsAt <= now ? this.#choose(entry, startsAt, this.#listHeld(now, entry)) : undefined;
      return free ?? this.#choose(entry, startsAt);
    });
    invariant(parts !== undefined, () => `request ${id} does not fit at ${startsAt}`);
    return parts;
  }

  /** The earliest place from `now` on for a waiting request, everybody else's place standing. */
  findEarliestPlace({ id }: PlannedRequest, now: Instant): Instant {
    const entry = this.#getWaiting(id);
    const own = entry.place;
    const found = this.#withoutPlace(entry, () => this.#search(entry, now));
    return own >= now ? Math.min(own, found) : found;
  }

  /**
   * The earliest place from `now` on for a request that arrived last with this rank, as if of those behind it only the
   * ones whose place has begun had theirs. Infinity without one.
   */
  findPlaceAhead(request: RankedRequest, now: Instant): Instant {
    const behind: PlanEntry[] = [];
    for (let entry = this.#waiting.last; entry !== undefined && entry.rank > request.rank; entry = entry.previous) {
      if (entry.place <= now || entry.place === Infinity) continue;
      this.#vacate(entry);
      behind.push(entry);
    }
    const place = this.#search(request, now);
    for (const entry of behind) this.#occupy(entry);
    return place;
  }

  /**
   * The first in the order, of those that are not due, that can start now for its whole walltime, if it gives up its
   * own place for that.
   *
   * @param isReal only on processors that no overrunning request holds.
   */
  findBackfill(now: Instant, isReal: boolean): PlannedRequest | undefined {
    const held = isReal ? this.#listHeld(now) : undefined;
    for (const entry of this.#waiting.values())
      if (entry.place > now && this.#withoutPlace(entry, () => this.#choose(entry, now, held)) !== undefined)
        return entry;
    return undefined;
  }

  /** Runs something while a waiting request without a place seems to have one. */
  whileHeld({ id }: PlannedRequest, place: Instant, run: () => void): void {
    const entry = this.#getWaiting(id);
    const parts = place === Infinity ? undefined : this.#choose(entry, place);
    const [start, end] = [place, place + entry.walltime];
    for (const part of parts ?? []) this.#timelines[part.node]?.reserve(part, start, end);
    run();
    for (const part of parts ?? []) this.#timelines[part.node]?.release(part, start, end);
  }

  /** What waits that one who arrived now with this rank would be behind. Cost: O(n). */
  sumProvisioning(rank: number): Ahead {
    let [count, work] = [0, 0];
    for (const entry of this.#waiting.values()) {
      if (entry.rank > rank) break;
      count += 1;
      work += entry.width * entry.walltime;
    }
    return { count, work };
  }

  /** @throws {InvariantError} unless the timelines are what the requests leave. */
  check(): void {
    const rebuilt = this.nodes.map((node) => new NodeTimeline(node, this.#from));
    for (const entry of [...this.#running.values(), ...this.#waiting.values()])
      if (entry.place < Infinity)
        for (const part of this.getParts(entry.id))
          rebuilt[part.node]?.reserve(part, entry.place, entry.place + entry.walltime);
    for (const [index, timeline] of rebuilt.entries())
      invariant(
        timeline.describe() === this.#timelines[index]?.describe(),
        () => `the timeline of ${this.nodes[index]?.name} is not what the requests leave`,
      );
  }

  /** The earliest instant from `now` on at which a request fits: now, or when something ends. */
  #search(request: RequestTerms, now: Instant): Instant {
    if (this.#choose(request, Infinity) === undefined) return Infinity;
    const changes = new Set<Instant>([now]);
    for (const [index, timeline] of this.#timelines.entries())
      if (!this.away.has(index)) for (const at of timeline.listChanges()) if (at > now) changes.add(at);
    for (const at of [...changes].sort((one, other) => one - other))
      if (this.#choose(request, at) !== undefined) return at;
    return Infinity;
  }

  /** @param startsAt Infinity for when nothing is in use. @param held what is not free in addition. */
  #choose(
    { width, walltime, shape = plainSlot }: RequestTerms,
    startsAt: Instant,
    held?: readonly NodeAmounts[],
  ): readonly NodePart[] | undefined {
    const count = width / shape.processors;
    if (!Number.isInteger(count)) return undefined;
    return chooseParts(this.#listFree(shape, startsAt, startsAt + walltime, held), shape, count);
  }

  #listFree(slot: Slot, start: Instant, end: Instant, held: readonly NodeAmounts[] | undefined): FreeNode[] {
    return this.nodes.flatMap((node, index) => {
      if (this.away.has(index)) return [];
      const planned =
        start === Infinity ? listAmounts(node) : (this.#timelines[index] as NodeTimeline).minFree(start, end);
      const free = held === undefined ? planned : leastOf(planned, subtract(listAmounts(node), held[index]));
      return [{ index, node, free, slots: countSlotsIn(free, slot, node) }];
    });
  }

  /** What requests hold that run or are due. @param but one that does not count. */
  #listHeld(now: Instant, but?: PlanEntry): NodeAmounts[] {
    const held = this.nodes.map(() => ({ processors: 0, memory: 0, gpus: new Map<string, number>() }));
    for (const { id } of [...this.#running.values(), ...this.findDue(now)])
      for (const part of id === but?.id ? [] : this.getParts(id)) {
        const sums = held[part.node];
        if (sums === undefined) continue;
        sums.processors += part.processors;
        sums.memory += part.memory;
        for (const [kind, count] of Object.entries(part.gpus)) sums.gpus.set(kind, (sums.gpus.get(kind) ?? 0) + count);
      }
    return held;
  }

  #withoutPlace<T>(entry: PlanEntry, run: () => T): T {
    this.#vacate(entry);
    const result = run();
    this.#occupy(entry);
    return result;
  }

  #vacate(entry: PlanEntry): void {
    if (entry.place < Infinity) this.#release(entry, entry.place, entry.place + entry.walltime);
  }

  #occupy({ id, place, walltime }: PlanEntry): void {
    if (place === Infinity) return;
    for (const part of this.getParts(id)) this.#timelines[part.node]?.reserve(part, place, place + walltime);
  }

  #release({ id }: PlanEntry, start: Instant, end: Instant): void {
    for (const part of this.getParts(id)) this.#timelines[part.node]?.release(part, start, end);
  }

  #getWaiting(id: number): PlanEntry {
    const entry = this.#waiting.get(id);
    if (entry === undefined) throw new InvariantError(`request ${id} does not wait`);
    return entry;
  }
}

function leastOf(one: NodeAmounts, other: NodeAmounts): NodeAmounts {
  return {
    processors: Math.min(one.processors, other.processors),
    memory: Math.min(one.memory, other.memory),
    gpus: new Map([...one.gpus].map(([kind, count]) => [kind, Math.min(count, other.gpus.get(kind) ?? 0)])),
  };
}

function subtract(all: NodeAmounts, held: NodeAmounts | undefined): NodeAmounts {
  return {
    processors: all.processors - (held?.processors ?? 0),
    memory: all.memory - (held?.memory ?? 0),
    gpus: new Map([...all.gpus].map(([kind, count]) => [kind, count - (held?.gpus.get(kind) ?? 0)])),
  };
}
