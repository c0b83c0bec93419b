import test from 'ava';
import fc from 'fast-check';
import {
  AdaptiveAdmissibility,
  AdmissibleSets,
  measurePlacement,
  siteSelectionStrategies,
  SiteSelectionTable,
  QueueModel,
  type AssignedTask,
} from '@mutirao/core/site-selection';
import { Prng } from '@mutirao/core/shared';
import { runs } from '@mutirao/testkit';

const sizes = fc
  .array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(4, 8, 16, 32)), { minLength: 1, maxLength: 12 })
  .map((all) => all.toSorted((one, other) => one - other));
const admissibility = fc.oneof(
  fc.constantFrom(0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1),
  fc.double({ min: 0, max: 1, noNaN: true }),
);

test('admissible sets are those of the definition', (t) => {
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 41 }), fc.integer({ min: 0, max: 100 }), (all, width, percent) => {
      const first = all.findIndex((size) => size >= width);
      const found = new AdmissibleSets(all).getRange(width, percent / 100);
      if (first < 0) return found === undefined;
      const total = all.slice(first).reduce((sum, size) => sum + size, 0);
      let [last, sum] = [first, all[first]!];
      // In whole numbers, so that nothing is rounded.
      while (100 * sum < percent * total) sum += all[++last]!;
      return found?.first === first && found.last === last;
    }),
    runs(20_100_101, 2000),
  );
  t.pass();
});

/** What may happen to a resource; numbers are taken modulo what there is. */
type Event =
  | { readonly kind: 'add'; readonly width: number; readonly walltime: number }
  | { readonly kind: 'start' | 'end' | 'withdraw'; readonly which: number }
  | { readonly kind: 'wait'; readonly time: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      width: fc.integer({ min: 1, max: 8 }),
      walltime: fc.integer({ min: 1, max: 50 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('start' as const, 'start' as const, 'end' as const, 'withdraw' as const),
      which: fc.integer({ min: 0, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), time: fc.integer({ min: 0, max: 20 }) }) },
);

interface Known {
  readonly id: number;
  readonly task: AssignedTask;
  startedAt?: number;
  readonly addedAt: number;
}

/** A slow world of 8 processors beside a book: it knows who waits and runs, and makes a book of it again when asked. */
class SlowResource {
  readonly book = new QueueModel(8);
  waiting: Known[] = [];
  running: Known[] = [];
  now = 0;
  #ids = 0;

  happen(what: Event): void {
    switch (what.kind) {
      case 'add':
        return this.#add(what);
      case 'wait': {
        this.now = Math.min(
          this.now + what.time,
          ...this.running.map(({ task, startedAt }) => startedAt! + task.walltime),
        );
        return;
      }
      case 'start':
        return this.#start(what.which);
      case 'end':
        return this.#end(this.running, what.which);
      case 'withdraw':
        return what.which === 3 ? this.#end(this.waiting, 1) : undefined;
    }
  }

  /** The same facts told to a new book. */
  again(): QueueModel {
    const book = new QueueModel(8);
    for (const { id, task, startedAt } of this.running) {
      book.add(id, task, startedAt!);
      book.start(id, startedAt!);
    }
    for (const { id, task } of this.waiting) book.add(id, task, this.now);
    return book;
  }

  #add({ width, walltime }: { readonly width: number; readonly walltime: number }): void {
    const known = { id: this.#ids++, task: { width, walltime, submittedAt: this.now }, addedAt: this.now };
    this.book.add(known.id, known.task, this.now);
    this.waiting.push(known);
  }

  /** Mostly the head, as under FCFS; now and then another one that fits, as under backfilling. */
  #start(which: number): void {
    const free = 8 - this.running.reduce((sum, { task }) => sum + task.width, 0);
    const known = this.waiting[which === 3 ? 1 : 0];
    if (known === undefined || known.task.width > free) return;
    known.startedAt = this.now;
    this.waiting = this.waiting.filter((each) => each !== known);
    this.running.push(known);
    this.book.start(known.id, this.now);
  }

  #end(all: Known[], which: number): void {
    const known = all[which % Math.max(1, all.length)];
    if (known === undefined) return;
    this.running = this.running.filter((each) => each !== known);
    this.waiting = this.waiting.filter((each) => each !== known);
    this.book.end(known.id, this.now);
  }
}

test('a schedule that grew step by step foresees what one made again does, bit for bit', (t) => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: 1, max: 8 }), (events, width) => {
      const world = new SlowResource();
      for (const each of events) {
        world.happen(each);
        // So that late messages are delivered before the book is looked at again.
        if (each.kind === 'wait') continue;
        const task = { width, walltime: 7, submittedAt: world.now };
        const [grown, again] = [world.book.foresee(task, world.now), world.again().foresee(task, world.now)];
        t.deepEqual(grown, again);
      }
    }),
    runs(20_100_102, 300),
  );
});

test('a book that begins with the sums of another foresees what that one does, also once more was put on both', (t) => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 8 }),
      (events, width, further) => {
        const world = new SlowResource();
        for (const each of events) world.happen(each);
        const { book, now } = world;
        const reported = new QueueModel(8, 'unfinished', { known: book.summarize(now), by: 0 });
        // Times of the one count from now; of its sums only ends do.
        const expect = (task: AssignedTask): object => {
          const foreseen = book.foresee({ ...task, submittedAt: now }, now);
          return {
            ...foreseen,
            endsAt: foreseen.endsAt - now,
            lastEnd: foreseen.lastEnd - now,
            weightedEnds: foreseen.weightedEnds - now * foreseen.widthSum,
          };
        };
        const task = { width, walltime: 7, submittedAt: 0 };
        t.deepEqual(reported.foresee(task, 0), expect(task));
        reported.add(0, { ...task, width: further }, 0);
        book.add(1_000_000, { ...task, width: further, submittedAt: now }, now);
        t.deepEqual(reported.foresee(task, 0), expect(task));
      },
    ),
    runs(20_100_104, 300),
  );
});

test('the end that is foreseen is that of a schedule by instants, first come, first served', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ width: fc.integer({ min: 1, max: 8 }), walltime: fc.integer({ min: 1, max: 12 }) }), {
        minLength: 1,
        maxLength: 12,
      }),
      (tasks) => {
        const book = new QueueModel(8);
        const placed: { start: number; end: number; width: number }[] = [];
        const free = (at: number): number =>
          8 - placed.reduce((sum, { start, end, width }) => sum + (start <= at && at < end ? width : 0), 0);
        tasks.forEach(({ width, walltime }, id) => {
          let start = placed.at(-1)?.start ?? 0;
          while (free(start) < width) start += 1;
          placed.push({ start, end: start + walltime, width });
          t.is(book.foresee({ width, walltime, submittedAt: 0 }, 0).endsAt, start + walltime);
          book.add(id, { width, walltime, submittedAt: 0 }, 0);
        });
      },
    ),
    runs(20_100_102, 500),
  );
});

const anyTask = fc.record({
  width: fc.integer({ min: 1, max: 42 }),
  walltime: fc.integer({ min: 1, max: 1000 }),
  submittedAt: fc.constant(0),
});

function fill(all: readonly number[], tasks: readonly AssignedTask[]): SiteSelectionTable {
  const table = new SiteSelectionTable(
    all.map((size, index) => ({ name: `c${index}`, book: new QueueModel(size), level: 4, receivedAt: Infinity })),
  );
  tasks.forEach((task, id) => {
    const first = table.sets.firstOf(task.width);
    if (first !== undefined) table.resources[first + (id % (all.length - first))]!.book.add(id, task, 0);
  });
  return table;
}

test('every strategy takes an admissible resource of the least value, the first of those', (t) => {
  fc.assert(
    fc.property(sizes, fc.array(anyTask, { maxLength: 30 }), anyTask, admissibility, (all, before, task, a) => {
      const table = fill(all, before);
      const range = table.sets.getRange(task.width, a);
      for (const strategy of siteSelectionStrategies) {
        const decision = table.decide({ strategy, admissibility: a, staleAfter: 0 }, task, 0, new Prng('property'));
        if (decision.kind === 'too-wide') return range === undefined;
        const { index, values, admissible } = decision;
        t.deepEqual(admissible, range);
        t.true(index >= admissible.first && index <= admissible.last && all[index]! >= task.width);
        const count = admissible.last - admissible.first + 1;
        t.true(values.every((value) => Number.isFinite(value)) && values.length === (count === 1 ? 0 : count));
        if (count > 1) t.is(index - admissible.first, values.indexOf(Math.min(...values)));
      }
      return true;
    }),
    runs(20_100_102, 200),
  );
});

test('with a = 1 all that is wide enough is compared, and a smaller a compares the same values of fewer', (t) => {
  fc.assert(
    fc.property(sizes, fc.array(anyTask, { maxLength: 20 }), anyTask, admissibility, (all, before, task, a) => {
      const table = fill(all, before);
      // Min_LBal's values are those of the whole set.
      for (const strategy of siteSelectionStrategies.filter(({ name }) => name !== 'min-lbal' && name !== 'random')) {
        const [free, bound] = [1, a].map((each) =>
          table.decide({ strategy, admissibility: each, staleAfter: 0 }, task, 0, new Prng('property')),
        );
        if (free?.kind !== 'assigned' || bound?.kind !== 'assigned') return task.width > all.at(-1)!;
        const count = all.filter((size) => size >= task.width).length;
        t.is(free.values.length, count === 1 ? 0 : count);
        t.deepEqual(bound.values, free.values.slice(0, bound.values.length));
      }
      return true;
    }),
    runs(20_100_102, 200),
  );
});

test('metrics keep their identities: m6 is m11, waits and run times make turnarounds, utilisation and idleness make the whole', (t) => {
  const finished = fc.record({
    submittedAt: fc.integer({ min: 0, max: 500 }),
    width: fc.integer({ min: 1, max: 8 }),
    runTime: fc.integer({ min: 1, max: 90_000 }),
    wait: fc.integer({ min: 0, max: 90_000 }),
  });
  fc.assert(
    fc.property(fc.array(finished, { minLength: 1, maxLength: 30 }), (tasks) => {
      const all = tasks.map((task) => ({ ...task, endedAt: task.submittedAt + task.wait + task.runTime }));
      const m = [0, ...measurePlacement(all, 16)] as number[];
      const mean = (value: (task: (typeof all)[number]) => number): number =>
        all.reduce((sum, task) => sum + value(task), 0) / all.length;
      const near = (one: number, other: number): void => {
        t.true(Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(other)), `${one} and ${other}`);
      };
      t.is(m[6], m[11]);
      near(m[9]! + mean(({ runTime }) => runTime), m[6]!);
      near(m[10]! + mean(({ runTime, width }) => runTime * width), m[7]!);
      near(m[3]! * m[2]! * 16 + m[4]!, m[2]! * 16);
      near(m[14]! * mean(({ runTime }) => runTime), m[6]!);
      t.true(m[13]! <= m[12]! && m[13]! >= 1 && m[12]! >= 1);
      t.true(m[5]! * m[2]! - all.length < 1e-6);
    }),
    runs(20_100_102, 300),
  );
});

const arrival = fc.record({
  width: fc.integer({ min: 1, max: 40 }),
  gap: fc.integer({ min: 1, max: 50 }),
  runTime: fc.integer({ min: 1, max: 500 }),
});

/**
 * The least load of the busiest resource there can be: by the cut of the flow that is worst, looked for among all sets
 * of widths.
 */
function slowPeak(sets: AdmissibleSets, a: number, loads: ReadonlyMap<number, number>): number {
  const classes = [...loads];
  let peak = 0;
  for (let chosen = 1; chosen < 2 ** classes.length; chosen += 1) {
    const picked = classes.filter((_, index) => Math.floor(chosen / 2 ** index) % 2 === 1);
    const ranges = picked.map(([first]) => sets.getRange(sets.sizes[first]!, a)!);
    const room = sets.sizes.reduce(
      (sum, size, index) => (ranges.some(({ first, last }) => first <= index && index <= last) ? sum + size : sum),
      0,
    );
    peak = Math.max(peak, picked.reduce((sum, [, load]) => sum + load, 0) / room);
  }
  return peak;
}

test('the adaptive a is one, and reckons with the most even spread there is', (t) => {
  fc.assert(
    fc.property(sizes, fc.array(arrival, { minLength: 2, maxLength: 25 }), admissibility, (all, arrivals, a) => {
      const sets = new AdmissibleSets(all.slice(0, 6));
      // Nothing fades, so that loads can be added up by hand.
      const adaptive = new AdaptiveAdmissibility(sets, { halfLife: 1e12, every: 1, calmLoad: 0.1, tolerance: 0 });
      const seen = new Map<number, { widths: number; work: number }>();
      let [now, start] = [0, -1];
      for (const { width, gap, runTime } of arrivals) {
        now += gap;
        adaptive.noteArrival(width, now);
        t.true(adaptive.value >= 0 && adaptive.value <= 1);
        if (sets.firstOf(width) !== undefined && now > start && start >= 0)
          t.true(
            adaptive.peakLoadAt(adaptive.value) <= adaptive.peakLoadAt(1) * (1 + 1e-9),
            'restricting costs no room',
          );
        adaptive.noteEnd(width, runTime);
        const first = sets.firstOf(width);
        if (first === undefined) continue;
        if (start < 0) start = now;
        const { widths, work } = seen.get(first) ?? { widths: 0, work: 0 };
        seen.set(first, { widths: widths + width, work: work + width * runTime });
      }
      const last = arrivals.reduce(
        (at, { width, gap }) => ({
          now: at.now + gap,
          last: sets.firstOf(width) === undefined ? at.last : at.now + gap,
        }),
        { now: 0, last: 0 },
      ).last;
      if (last <= start) return;
      const wanted = slowPeak(sets, a, new Map([...seen].map(([first, { work }]) => [first, work / (last - start)])));
      t.true(Math.abs(adaptive.peakLoadAt(a) - wanted) <= 1e-6 * wanted);
    }),
    runs(20_100_103, 300),
  );
});
