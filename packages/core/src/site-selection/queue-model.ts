import type { QueueSummary, QueueSums } from '../messages/index.ts';
import { InvariantError } from '../shared/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import { FreeGroups } from './free-groups.ts';
import type { ScheduleKnown } from './knowledge.ts';

/** A task that was assigned to a resource. */
export interface AssignedTask {
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** r_k. */
  readonly submittedAt: Instant;
}

interface Entry extends AssignedTask {
  /** C_k of the tentative schedule; of a running one, its start plus its walltime. */
  endsAt: Instant;
  /** Whether it still waits. */
  waits: boolean;
}

/** Sums over the tasks of a schedule; see `ScheduleKnown`. */
type Sums = { -readonly [name in keyof QueueSums]: QueueSums[name] };

/** The most groups that freed processors are summed up in. */
const groupsMax = 32;

/** A queue that was reported as sums, and the shift of its times to the clock of the model. */
export interface ReportedQueue {
  readonly known: QueueSummary;
  /** Less than 0 if it was reported before. */
  readonly by: Duration;
}

/** Which tasks the sums of a book are taken over. */
export type CountedTasks = 'unfinished' | 'all';

/**
 * The tasks that were assigned to one resource and have not ended, as running sums, and their tentative FCFS schedule.
 *
 * Tasks that are added in their order, and started in it when the schedule says, leave the schedule as it is; after any
 * other start and after any end it is computed again when it is next used; so it is after an overdue start. Sums are
 * always those of a new model, bit for bit: they are added up in one order, that of the running tasks by start and the
 * waiting ones by arrival.
 *
 * Settled for this project, where the seed is silent: sums run over unfinished tasks, unless `counted` is `all`; then
 * ended tasks stay with the end that they had.
 */
export class QueueModel {
  readonly processors: ProcessorCount;
  readonly #counted: CountedTasks;
  readonly #base: ReportedQueue | undefined;
  readonly #byId = new Map<number, Entry>();
  readonly #running = new Set<Entry>();
  /** In the order of arrival, from `#head` on; with those that started or were taken out in between. */
  #queue: Entry[] = [];
  #head = 0;
  #taskCount = 0;
  #widthSum = 0;
  #workSum = 0;
  readonly #free = new FreeGroups();
  #sums: Sums = noSums();
  readonly #ended: Sums = noSums();
  #isCurrent = false;

  /**
   * @param base the present queue, reported as sums: added tasks come behind all of it. Only for a model that counts
   *   unfinished tasks.
   */
  constructor(processors: ProcessorCount, counted: CountedTasks = 'unfinished', base?: ReportedQueue) {
    this.processors = processors;
    this.#counted = counted;
    this.#base = base;
    if (base !== undefined)
      [this.#taskCount, this.#widthSum, this.#workSum] = [base.known.count, base.known.widthSum, base.known.workSum];
  }

  /** The whole book in sums, its times counted from `now`. Cost: as `foresee`. */
  summarize(now: Instant): QueueSummary {
    this.#look(now);
    const free = this.#free.list(now, groupsMax).map(({ at, processors }) => ({ at: at - now, processors }));
    return {
      count: this.#taskCount,
      widthSum: this.#widthSum,
      workSum: this.#workSum,
      ...sumsLater(this.#sums, this.#widthSum, -now),
      free,
    };
  }

  /** Tasks that have not ended. */
  get unfinishedCount(): number {
    return this.#byId.size;
  }

  /**
   * Adds a task at the end of the queue. Cost: O(groups of the schedule). @throws {InvariantError} for one that is
   * there already.
   */
  add(id: number, { width, walltime, submittedAt }: AssignedTask, now: Instant): void {
    if (this.#byId.has(id)) throw new InvariantError(`task ${id} was assigned already`);
    const entry: Entry = { width, walltime, submittedAt, endsAt: 0, waits: true };
    this.#byId.set(id, entry);
    this.#queue.push(entry);
    this.#taskCount += 1;
    this.#widthSum += width;
    this.#workSum += width * walltime;
    if (this.#isCurrent) this.#schedule(entry, now);
  }

  /** Notes that a task has started. Cost: O(1). */
  start(id: number, now: Instant): void {
    const entry = this.#getEntry(id);
    const endsAt = now + entry.walltime;
    // The sums are taken in the order of starts: the head's place in it stays, and so does its end.
    if (this.#firstWaiting() !== entry || entry.endsAt !== endsAt) this.#isCurrent = false;
    entry.waits = false;
    entry.endsAt = endsAt;
    this.#running.add(entry);
  }

  /** Notes that a task has ended, or was withdrawn. Cost: O(1). */
  end(id: number, now: Instant): void {
    const entry = this.#getEntry(id);
    this.#byId.delete(id);
    this.#running.delete(entry);
    const hasRun = !entry.waits;
    entry.waits = false;
    this.#isCurrent = false;
    if (this.#counted === 'all' && hasRun) {
      addTo(this.#ended, entry, now);
      return;
    }
    this.#taskCount -= 1;
    this.#widthSum -= entry.width;
    this.#workSum -= entry.width * entry.walltime;
  }

  /**
   * What all levels see of the resource with a task put on it. Cost: O(groups of the schedule); after an end or a start
   * out of order, O(tasks x groups) once.
   */
  foresee({ width, walltime, submittedAt }: AssignedTask, now: Instant): ScheduleKnown {
    this.#look(now);
    const endsAt = this.#free.startOf(width, now) + walltime;
    const turnaround = endsAt - submittedAt;
    const { lastEnd, weightedEnds, turnarounds, weightedTurnarounds, workedTurnarounds, walltimes } = this.#sums;
    return {
      ...this.countWith(width, walltime),
      endsAt,
      lastEnd: Math.max(lastEnd, endsAt),
      weightedEnds: weightedEnds + width * endsAt,
      turnarounds: turnarounds + turnaround,
      weightedTurnarounds: weightedTurnarounds + turnaround * width,
      workedTurnarounds: workedTurnarounds + turnaround * width * walltime,
      walltimes: walltimes + walltime,
    };
  }

  /** What levels 0 to 3 see of the resource with a task put on it. Cost: O(1). */
  countWith(
    width: ProcessorCount,
    walltime: Duration,
  ): Pick<ScheduleKnown, 'processors' | 'taskCount' | 'widthSum' | 'workSum'> {
    return {
      processors: this.processors,
      taskCount: this.#taskCount + 1,
      widthSum: this.#widthSum + width,
      workSum: this.#workSum + width * walltime,
    };
  }

  /** Makes the schedule again where it is not the one of now. */
  #look(now: Instant): void {
    if (!this.#isCurrent || this.#isOverdue(now)) this.#makeAgain(now);
  }

  #makeAgain(now: Instant): void {
    if (this.#base === undefined) this.#free.reset(this.processors);
    else this.#free.load(this.#base.known.free, now, this.#base.by);
    this.#sums =
      this.#base === undefined
        ? { ...this.#ended }
        : sumsLater(this.#base.known, this.#base.known.widthSum, this.#base.by);
    for (const entry of this.#running) {
      // A task that runs beyond its walltime is expected to end at once.
      const endsAt = Math.max(now, entry.endsAt);
      this.#free.hold(entry.width, endsAt);
      addTo(this.#sums, entry, endsAt);
    }
    if (this.#head > 0) this.#queue.splice(0, this.#head);
    this.#head = 0;
    this.#queue = this.#queue.filter(({ waits }) => waits);
    for (const entry of this.#queue) this.#schedule(entry, now);
    this.#isCurrent = true;
  }

  #schedule(entry: Entry, now: Instant): void {
    entry.endsAt = this.#free.take(entry.width, entry.walltime, now);
    addTo(this.#sums, entry, entry.endsAt);
  }

  /**
   * Whether the head of the queue should have started by the schedule: a task runs longer than its walltime, or its
   * start is not known yet.
   */
  #isOverdue(now: Instant): boolean {
    const first = this.#firstWaiting();
    return first !== undefined && first.endsAt - first.walltime < now;
  }

  #firstWaiting(): Entry | undefined {
    while (this.#head < this.#queue.length && this.#queue[this.#head]?.waits === false) this.#head += 1;
    return this.#queue[this.#head];
  }

  #getEntry(id: number): Entry {
    const entry = this.#byId.get(id);
    if (entry === undefined) throw new InvariantError(`task ${id} was never assigned`);
    return entry;
  }
}

/** Sums of ends and turnarounds with all ends shifted by `by`; an end that would be negative is 0. */
function sumsLater(
  { lastEnd, weightedEnds, turnarounds, weightedTurnarounds, workedTurnarounds, walltimes }: QueueSums,
  widthSum: ProcessorCount,
  by: Duration,
): Sums {
  return {
    lastEnd: Math.max(0, lastEnd + by),
    weightedEnds: Math.max(0, weightedEnds + by * widthSum),
    turnarounds,
    weightedTurnarounds,
    workedTurnarounds,
    walltimes,
  };
}

function noSums(): Sums {
  return { lastEnd: 0, weightedEnds: 0, turnarounds: 0, weightedTurnarounds: 0, workedTurnarounds: 0, walltimes: 0 };
}

function addTo(sums: Sums, { width, walltime, submittedAt }: AssignedTask, endsAt: Instant): void {
  const turnaround = endsAt - submittedAt;
  sums.lastEnd = Math.max(sums.lastEnd, endsAt);
  sums.weightedEnds += width * endsAt;
  sums.turnarounds += turnaround;
  sums.weightedTurnarounds += turnaround * width;
  sums.workedTurnarounds += turnaround * width * walltime;
  sums.walltimes += walltime;
}
