import { Heap, invariant } from '../shared/index.ts';
import type { Duration, Instant } from '../shared/index.ts';
import { LoadedRows, OrderedTree } from '../shared/ordered-tree.ts';
import { PeriodTree } from './period-tree.ts';
import type { PlacementRule } from './resource.ts';
import { UnitLists } from './unit-lists.ts';

/** Windows in which resources are busy, in columns, sorted by start. */
export interface BusyWindows {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** Which are busy in one. */
  resourcesAt(index: number): readonly number[];
}

const nothingBusy: BusyWindows = { starts: new Float64Array(0), ends: new Float64Array(0), resourcesAt: () => [] };

/**
 * When each of n identical resources is idle: which of them are free throughout a window, and when the first window is
 * that enough are.
 *
 * Idle periods are kept in the order of their starts, as Castillo et al. 2007 keep theirs, and once more by resource. A
 * start is possible as long
 * as it is in [period's start, period's end - duration] of enough resources; so the sweep looks at each period that is
 * long enough once, and at
 * no shorter one. n is the number of periods.
 */
export class IdlePeriods {
  readonly resourceCount: number;
  /** (start, resource) -> end. */
  readonly #byStart = new PeriodTree();
  /** (resource, start) -> end; the same periods. */
  readonly #byResource = new OrderedTree();

  /** All idle from `from` on. */
  constructor(resourceCount: number, from: Instant) {
    this.resourceCount = resourceCount;
    this.loadBusy(nothingBusy, new Uint32Array(0), from);
  }

  /** How many periods there are. */
  get size(): number {
    return this.#byStart.size;
  }

  /**
   * Replaces all periods: busy in the given windows and idle otherwise from `from` on. Cost: O(n).
   *
   * @param byEnd the windows' indices in order of their ends.
   */
  loadBusy(windows: BusyWindows, byEnd: Uint32Array, from: Instant): void {
    const busy = flatten(windows);
    const periods = listPeriods(this.resourceCount, busy, from);
    this.#byResource.load(inOrderOfResource(periods));
    this.#byStart.load(inOrderOfStart(periods, busy, byEnd, from));
  }

  /** Whether a resource is idle throughout. Cost: O(log n). */
  isIdle(resource: number, start: Instant, end: Instant): boolean {
    const period = this.#byResource.findUpTo(resource, start);
    return period !== undefined && period.value >= end;
  }

  /** The parts of a window in which a resource is idle. Cost: O(log n) and O(1) each. */
  idleWithin(resource: number, start: Instant, end: Instant): { readonly start: Instant; readonly end: Instant }[] {
    const parts: { start: Instant; end: Instant }[] = [];
    const add = (from: Instant, to: Instant): void => {
      if (Math.min(to, end) > Math.max(from, start))
        parts.push({ start: Math.max(from, start), end: Math.min(to, end) });
    };
    const first = this.#byResource.findUpTo(resource, start);
    if (first !== undefined) add(first.second, first.value);
    this.#byResource.visit(resource, start, (each, from, to) => {
      if (each === resource && from > start) add(from, to);
      return each === resource && from < end;
    });
    return parts;
  }

  /** Ends a resource's idleness in a window; it is idle throughout. Cost: O(log n). */
  take(resource: number, start: Instant, end: Instant): void {
    const period = this.#byResource.findUpTo(resource, start);
    invariant(period !== undefined && period.value >= end, `resource ${resource} is not idle in [${start}, ${end})`);
    if (period.second < start) this.#set(resource, period.second, start);
    else this.#remove(resource, start);
    if (end < period.value) this.#set(resource, end, period.value);
  }

  /** Makes a resource idle in a window; it is busy throughout. Cost: O(log n). */
  free(resource: number, start: Instant, end: Instant): void {
    const before = this.#byResource.findUpTo(resource, start);
    invariant(before === undefined || before.value <= start, `resource ${resource} is idle at ${start} already`);
    const after = this.#byResource.find(resource, end);
    if (after !== undefined) this.#remove(resource, end);
    this.#set(resource, before?.value === start ? before.second : start, after ?? end);
  }

  /** Forgets what a resource's idleness was that ended at `end`. Cost: O(log n). */
  forgetEndingAt(resource: number, end: Instant): void {
    const period = this.#byResource.findUpTo(resource, end);
    if (period?.value === end) this.#remove(resource, period.second);
  }

  /**
   * The earliest start in [from, startMax] from which on `count` resources are idle for a duration, the same ones
   * throughout; Infinity when there is none.
   *
   * It is `from` or the start of an idle period, that is, the end of a reservation.
   * Cost: O(log n) for each period that is at least as long and overlaps the search.
   * @source kunrath2008, 4.1. Departs from the source: candidates are not tried one by one, with the same answer.
   */
  earliestFit(count: number, duration: Duration, from: Instant, startMax: Instant): Instant {
    if (from > startMax) return Infinity;
    const lastStarts = new Heap<Instant>((one, other) => one < other);
    this.#byStart.visitAround(from, from + duration, (_start, _resource, end) => {
      lastStarts.push(end - duration);
      return lastStarts.size < count;
    });
    if (lastStarts.size >= count) return from;
    let found = Infinity;
    this.#byStart.visitLong(duration, from, startMax, (start, _resource, end) => {
      while (lastStarts.size > 0 && (lastStarts.first as Instant) < start) lastStarts.pop();
      lastStarts.push(end - duration);
      if (lastStarts.size < count) return true;
      found = start;
      return false;
    });
    return found;
  }

  /**
   * Resources that are idle throughout a window, `count` at most, ascending: of those, the ones that have been idle the
   * longest (first-fit), whose
   * idleness before it is the shortest (min-LIP) or after it (min-TIP); the lowest number among equals.
   *
   * Cost: O(log n) each; of all that are idle, unless it is first-fit.
   */
  choose(count: number, start: Instant, end: Instant, rule: PlacementRule): number[] {
    const found: { readonly resource: number; readonly start: Instant; readonly end: Instant }[] = [];
    this.#byStart.visitAround(start, end, (periodStart, resource, periodEnd) => {
      found.push({ resource, start: periodStart, end: periodEnd });
      return rule !== 'first-fit' || found.length < count;
    });
    if (rule === 'min-lip') found.sort((one, other) => other.start - one.start || one.resource - other.resource);
    if (rule === 'min-tip') found.sort((one, other) => compare(one.end, other.end) || one.resource - other.resource);
    return found
      .slice(0, count)
      .map(({ resource }) => resource)
      .sort((one, other) => one - other);
  }

  /**
   * @throws {InvariantError} when the two orders do not hold the same periods, or an index is not right. Cost: O(n log
   * n).
   */
  checkInvariants(): void {
    this.#byStart.checkInvariants();
    this.#byResource.checkInvariants();
    invariant(
      this.#byStart.size === this.#byResource.size,
      `${this.#byStart.size} periods by start, ${this.#byResource.size} by resource`,
    );
    for (const { resource, start, end } of this.periods())
      invariant(
        this.#byStart.find(start, resource) === end,
        `resource ${resource} is idle in [${start}, ${end}), and not by start`,
      );
  }

  /** All periods, in order of resource, then start. */
  periods(): { readonly resource: number; readonly start: Instant; readonly end: Instant }[] {
    const all: { resource: number; start: Instant; end: Instant }[] = [];
    this.#byResource.visit(-1, 0, (resource, start, end) => all.push({ resource, start, end }) > 0);
    return all;
  }

  #set(resource: number, start: Instant, end: Instant): void {
    this.#byStart.set(start, resource, end);
    this.#byResource.set(resource, start, end);
  }

  #remove(resource: number, start: Instant): void {
    this.#byStart.remove(start, resource);
    this.#byResource.remove(resource, start);
  }
}

/** As a difference, but of infinities too. */
function compare(one: number, other: number): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Busy windows whose resources stand one behind the other, for they are gone through several times. */
interface FlatWindows {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** By window. */
  readonly lists: UnitLists;
  /** What all lists have. */
  readonly resources: Uint32Array;
}

function flatten({ starts, ends, resourcesAt }: BusyWindows): FlatWindows {
  const lists = new UnitLists();
  for (let index = 0; index < starts.length; index += 1) lists.push(resourcesAt(index));
  return { starts, ends, lists, resources: lists.values() };
}

/** Idle periods of all resources, those of one resource one behind the other, in order. */
interface PeriodLists {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** By resource, where its periods begin in the arrays. */
  readonly firsts: Uint32Array;
  /** By resource, where they end. */
  readonly pasts: Uint32Array;
}

function listPeriods(resourceCount: number, windows: FlatWindows, from: Instant): PeriodLists {
  const { starts: busyStarts, ends: busyEnds, resources, lists } = windows;
  const firsts = findRoom(resourceCount, resources);
  const pasts = firsts.slice(0, resourceCount);
  const room = firsts[resourceCount] as number;
  const [starts, ends] = [new Float64Array(room), new Float64Array(room)];
  const idleFrom = new Float64Array(resourceCount).fill(from);
  const note = (resource: number, until: Instant): void => {
    const place = pasts[resource] as number;
    if (until <= (idleFrom[resource] as number)) return;
    starts[place] = idleFrom[resource] as number;
    ends[place] = until;
    pasts[resource] = place + 1;
  };
  for (let index = 0; index < busyStarts.length; index += 1) {
    const [start, end] = [busyStarts[index] as number, busyEnds[index] as number];
    for (let at = lists.firstOf(index); at < lists.firstOf(index + 1); at += 1) {
      const resource = resources[at] as number;
      note(resource, start);
      if (end > (idleFrom[resource] as number)) idleFrom[resource] = end;
    }
  }
  for (let resource = 0; resource < resourceCount; resource += 1) note(resource, Infinity);
  return { starts, ends, firsts, pasts };
}

/**
 * Where the periods of each resource begin, and where all end: a resource has at most one before each of its
 * reservations and one after the last.
 */
function findRoom(resourceCount: number, resources: Uint32Array): Uint32Array {
  const firsts = new Uint32Array(resourceCount + 1);
  for (const resource of resources) firsts[resource + 1] = (firsts[resource + 1] as number) + 1;
  for (let resource = 0; resource < resourceCount; resource += 1)
    firsts[resource + 1] = (firsts[resource + 1] as number) + (firsts[resource] as number) + 1;
  return firsts;
}

function inOrderOfResource({ starts, ends, firsts, pasts }: PeriodLists): LoadedRows {
  const rows = new LoadedRows(starts.length);
  for (let resource = 0; resource < pasts.length; resource += 1) {
    const past = pasts[resource] as number;
    for (let place = firsts[resource] as number; place < past; place += 1)
      rows.push(resource, starts[place] as number, ends[place] as number);
  }
  return rows;
}

/**
 * A period begins at the beginning of all or at a reservation's end, and these are in order: nothing is left to sort
 * but what begins together.
 */
function inOrderOfStart(
  { starts, ends, firsts, pasts }: PeriodLists,
  windows: FlatWindows,
  byEnd: Uint32Array,
  from: Instant,
): LoadedRows {
  const rows = new LoadedRows(starts.length);
  const next = firsts.slice(0, pasts.length);
  const push = (resource: number, start: Instant): void => {
    const place = next[resource] as number;
    if (place === pasts[resource] || starts[place] !== start) return;
    rows.push(start, resource, ends[place] as number);
    next[resource] = place + 1;
  };
  const { lists, resources } = windows;
  for (let resource = 0; resource < pasts.length; resource += 1) push(resource, from);
  for (let index = 0; index < byEnd.length; ) {
    const window = byEnd[index] as number;
    const end = windows.ends[window] as number;
    index += 1;
    if (windows.ends[byEnd[index] as number] !== end) {
      for (let at = lists.firstOf(window); at < lists.firstOf(window + 1); at += 1) push(resources[at] as number, end);
      continue;
    }
    const together = [...lists.listAt(window)];
    for (; windows.ends[byEnd[index] as number] === end; index += 1)
      together.push(...lists.listAt(byEnd[index] as number));
    for (const resource of together.sort((one, other) => one - other)) push(resource, end);
  }
  return rows;
}
