import test from 'ava';
import fc from 'fast-check';
import { AdmissibleSets, findSiteSelectionStrategy, siteSelectionStrategies } from '@mutirao/core/site-selection';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  type QueuePolicy,
  type TracedRequest,
} from '@mutirao/core/queue';
import { runSiteSelection, type SiteSelectionRun, type SiteSelectionSetup } from '@mutirao/sim';
import { runs } from '@mutirao/testkit';

const policies: readonly QueuePolicy[] = [firstComeFirstServed, easyBackfilling, conservativeBackfilling('start-now')];

const sizes = fc
  .array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 })
  .map((all) => all.toSorted((one, other) => one - other));
const drafts = fc.array(
  fc.record({
    gap: fc.integer({ min: 0, max: 6 }),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
    walltime: fc.integer({ min: 1, max: 30 }),
    used: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { minLength: 1, maxLength: 40 },
);

interface World {
  readonly setup: SiteSelectionSetup;
  readonly stream: readonly TracedRequest[];
}

/** Clusters, and tasks that fit the widest of them. */
const worlds: fc.Arbitrary<World> = fc
  .record({
    sizes,
    drafts,
    policy: fc.constantFrom(...policies),
    strategy: fc.constantFrom(...siteSelectionStrategies),
    admissibility: fc.oneof(
      fc.constantFrom(0, 0.5, 1, 'adaptive' as const),
      fc.double({ min: 0, max: 1, noNaN: true }),
    ),
    counted: fc.constantFrom('unfinished' as const, 'all' as const),
  })
  .map(({ drafts: all, ...setup }) => {
    let submittedAt = 0;
    const stream = all.map(({ gap, part, walltime, used }) => {
      submittedAt += gap;
      return {
        submittedAt,
        width: 1 + Math.floor(part * ((setup.sizes.at(-1) ?? 1) - 1)),
        walltime,
        runTime: 1 + Math.floor(used * (walltime - 1)),
      };
    });
    return { setup: { ...setup, seed: 'property' }, stream };
  });

const getStarts = ({ finished }: SiteSelectionRun): number[] =>
  finished.map(({ endedAt, runTime }) => endedAt - runTime);

test('the same setup and stream give the same run', (t) => {
  fc.assert(
    fc.property(worlds, ({ setup, stream }) => {
      t.deepEqual(runSiteSelection(setup, stream), runSiteSelection(setup, stream));
    }),
    runs(20_101_001, 100),
  );
});

test('every task runs once, whole, not before it was submitted, on a cluster that is wide enough', (t) => {
  fc.assert(
    fc.property(worlds, ({ setup, stream }) => {
      const run = runSiteSelection(setup, stream);
      t.is(run.clusters.length, stream.length);
      t.is(run.finished.filter((task) => task !== undefined).length, stream.length, 'all have ended');
      const sets = new AdmissibleSets(setup.sizes);
      stream.forEach(({ submittedAt, width, runTime }, id) => {
        t.like(run.finished[id], { submittedAt, width, runTime });
        t.true(run.finished[id]!.endedAt - runTime >= submittedAt);
        const cluster = run.clusters[id]!;
        t.true(setup.sizes[cluster]! >= width);
        if (typeof setup.admissibility !== 'number') return;
        const { first, last } = sets.getRange(width, setup.admissibility)!;
        t.true(first <= cluster && cluster <= last, 'it is admissible');
      });
    }),
    runs(20_101_002, 200),
  );
});

test('no cluster ever runs more than it has processors', (t) => {
  fc.assert(
    fc.property(worlds, ({ setup, stream }) => {
      const run = runSiteSelection(setup, stream);
      const starts = getStarts(run);
      for (const at of starts) {
        setup.sizes.forEach((size, cluster) => {
          const busy = stream.reduce(
            (sum, { width }, id) =>
              sum + (run.clusters[id] === cluster && starts[id]! <= at && at < run.finished[id]!.endedAt ? width : 0),
            0,
          );
          t.true(busy <= size, `${busy} of ${size} at ${at}`);
        });
      }
    }),
    runs(20_101_003, 200),
  );
});

test('under FCFS tasks of one cluster start in the order of submission', (t) => {
  fc.assert(
    fc.property(worlds, ({ setup, stream }) => {
      const run = runSiteSelection({ ...setup, policy: firstComeFirstServed }, stream);
      const starts = getStarts(run);
      const latest = setup.sizes.map(() => 0);
      stream.forEach((_, id) => {
        const cluster = run.clusters[id]!;
        t.true(starts[id]! >= latest[cluster]!);
        latest[cluster] = starts[id]!;
      });
    }),
    runs(20_101_004, 200),
  );
});

/** What strategies of the levels below 4 compare, reckoned from the whole past of a cluster. */
const plainValues: readonly (readonly [
  strategy: string,
  value: (tasks: readonly TracedRequest[], size: number) => number,
])[] = [
  ['min-lp', (tasks, size) => tasks.length / size],
  ['min-pl', (tasks, size) => tasks.reduce((sum, { width }) => sum + width, 0) / size],
  ['min-lb', (tasks, size) => tasks.reduce((sum, { width, walltime }) => sum + width * walltime, 0) / size],
];

test('the resource of a task can be computed from the tasks that were assigned before and had not ended when it came', (t) => {
  fc.assert(
    fc.property(worlds, fc.constantFrom(...plainValues), ({ setup, stream }, [name, value]) => {
      const admissibility = setup.admissibility === 'adaptive' ? 0.7 : setup.admissibility;
      const run = runSiteSelection({ ...setup, admissibility, strategy: findSiteSelectionStrategy(name)! }, stream);
      const sets = new AdmissibleSets(setup.sizes);
      stream.forEach((task, id) => {
        const { first, last } = sets.getRange(task.width, admissibility)!;
        const values = setup.sizes.map((size, cluster) => {
          // At one instant tasks are placed before others end.
          const there = stream
            .slice(0, id)
            .filter(
              (_, other) =>
                run.clusters[other] === cluster &&
                (setup.counted === 'all' || run.finished[other]!.endedAt >= task.submittedAt),
            );
          return cluster < first || cluster > last ? Infinity : value([...there, task], size);
        });
        t.is(run.clusters[id], values.indexOf(Math.min(...values)));
      });
    }),
    runs(20_101_005, 300),
  );
});
