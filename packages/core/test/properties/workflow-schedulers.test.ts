import test from 'ava';
import fc from 'fast-check';
import {
  auto,
  bLevels,
  candidates,
  chooseSchedule,
  gridPlanners,
  hlfet,
  findBound,
  findCriticalPath,
  findScheduleFault,
  findWorkflowFault,
  getLastEnd,
  scheduleArrivals,
  scheduleExclusively,
  makeWorkflow,
  platformCosts,
  tLevels,
  type LevelCosts,
  type Workflow,
} from '@mutirao/core/workflow';
import { anyDraft, anyProblem, runs } from '@mutirao/testkit';

const schedulers = [...candidates, hlfet, auto];

/** The longest path by trying all of them. */
function longestFrom(workflow: Workflow, costs: LevelCosts, task: number): number {
  const rests = (workflow.outgoing[task] ?? []).map(
    (edge) => (costs.transfers[edge] ?? 0) + longestFrom(workflow, costs, workflow.edges[edge]?.to ?? 0),
  );
  return (costs.times[task] ?? 0) + Math.max(0, ...rests);
}

test('every schedule respects data, arrivals, widths, processors that come late or are gone, and puts no two tasks on a processor at once', (t) => {
  for (const [index, scheduler] of schedulers.entries()) {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        fc.pre(
          problem.workflow.tasks.every(
            ({ widthMin }) => widthMin <= problem.availableFrom.filter((from) => from < Infinity).length,
          ),
        );
        const fault = findScheduleFault(problem, scheduler.schedule(problem));
        if (fault !== undefined) throw new Error(`${scheduler.name}: ${JSON.stringify(fault)}`);
      }),
      runs(220_811 + index, 400),
    );
  }
  t.pass();
});

test('no schedule is shorter than the critical path at full speed', (t) => {
  fc.assert(
    fc.property(anyProblem, fc.constantFrom(...schedulers), (problem, scheduler) => {
      fc.pre(
        problem.workflow.tasks.every(
          ({ widthMin }) => widthMin <= problem.availableFrom.filter((from) => from < Infinity).length,
        ),
      );
      const bound = findBound(problem.workflow, problem.costs, problem.availableFrom.length);
      return getLastEnd(scheduler.schedule(problem)) - problem.now >= bound * (1 - 1e-9);
    }),
    runs(220_812, 300),
  );
  t.pass();
});

test('ended, running and promised tasks stay where they are when the rest is scheduled again', (t) => {
  fc.assert(
    fc.property(anyProblem, fc.constantFrom(...schedulers), fc.nat(10_000), (problem, scheduler, after) => {
      fc.pre(
        problem.workflow.tasks.every(
          ({ widthMin }) => widthMin <= problem.availableFrom.filter((from) => from < Infinity).length,
        ),
      );
      const { placements } = scheduler.schedule(problem);
      const now = problem.now + after;
      const again = {
        ...problem,
        now,
        fixed: placements.map((placement) => (placement.start < now ? placement : undefined)),
      };
      const fault = findScheduleFault(again, scheduler.schedule(again));
      if (fault !== undefined) throw new Error(`${scheduler.name}: ${JSON.stringify(fault)}`);
    }),
    runs(220_813, 300),
  );
  t.pass();
});

test('levels and the critical path are what trying all paths finds', (t) => {
  fc.assert(
    fc.property(anyDraft, (draft) => {
      fc.pre(draft.tasks.length <= 12);
      const workflow = makeWorkflow(draft);
      const costs = {
        times: workflow.tasks.map(({ work }) => work),
        transfers: workflow.edges.map(({ data }) => data),
      };
      const levels = bLevels(workflow, costs);
      t.deepEqual(
        levels,
        workflow.tasks.map((_, task) => longestFrom(workflow, costs, task)),
      );
      const { tasks, length } = findCriticalPath(workflow, costs);
      t.is(length, Math.max(...levels));
      t.is(length, Math.max(...tLevels(workflow, costs).map((level, task) => level + (levels[task] ?? 0))));
      for (const [index, task] of tasks.slice(1).entries())
        t.true(workflow.edges.some(({ from, to }) => from === tasks[index] && to === task));
    }),
    runs(220_814, 200),
  );
});

test('a draft has a fault exactly when a cycle was put into it, and the reported path is a cycle of its edges', (t) => {
  fc.assert(
    fc.property(anyDraft, fc.nat(1000), fc.nat(1000), (draft, one, other) => {
      t.is(findWorkflowFault(draft), undefined);
      const [from, to] = [`t${one % draft.tasks.length}`, `t${other % draft.tasks.length}`];
      fc.pre(!draft.edges.some((edge) => edge.from === from && edge.to === to));
      const edges = [...draft.edges, { from, to }];
      const fault = findWorkflowFault({ tasks: draft.tasks, edges });
      if (fault === undefined) {
        t.is(makeWorkflow({ tasks: draft.tasks, edges }).order.length, draft.tasks.length);
        return;
      }
      t.is(fault.code, 'MUT_WORKFLOW_CYCLE');
      const path = fault.fault.code === 'workflow-cycle' ? fault.fault.taskIds : [];
      if (from === to) t.deepEqual(path, [from, from]);
      t.is(path[0], path.at(-1));
      for (const [index, id] of path.slice(1).entries())
        t.true(
          edges.some((edge) => edge.from === path[index] && edge.to === id),
          path.join(' '),
        );
      t.is(new Set(path).size, path.length - 1);
    }),
    runs(220_815, 300),
  );
});

test('the schedule of auto ends no later than that of any candidate', (t) => {
  fc.assert(
    fc.property(anyProblem, (problem) => {
      fc.pre(
        problem.workflow.tasks.every(
          ({ widthMin }) => widthMin <= problem.availableFrom.filter((from) => from < Infinity).length,
        ),
      );
      const chosen = getLastEnd(auto.schedule(problem));
      return candidates.every((candidate) => chosen <= getLastEnd(candidate.schedule(problem)));
    }),
    runs(220_816, 200),
  );
  t.pass();
});

test('jobs that arrive one after another share machines in batch and in immediate mode, and have some for themselves in exclusive mode', (t) => {
  const arrivals = fc.array(fc.record({ draft: anyDraft, after: fc.constantFrom(0, 300, 4000) }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(
      arrivals,
      fc.constantFrom(...schedulers),
      fc.constantFrom('batch' as const, 'immediate' as const, 'exclusive' as const),
      (jobs, scheduler, mode) => {
        let at = 0;
        const present = jobs.map(({ draft, after }) => ({ workflow: makeWorkflow(draft), at: (at += after) }));
        const processors = [100, 100, 50, 25, 25].map((speed, index) => ({ name: `p${index}`, speed }));
        const costsOf = (workflow: Workflow): ReturnType<typeof platformCosts> =>
          platformCosts(workflow, { processors, startUp: 1, bandwidth: 125_000 });
        const setup = { scheduler, processorCount: 5, costsOf };
        const { workflow, schedule } =
          mode === 'exclusive' ? scheduleExclusively(present, 4, setup) : scheduleArrivals(present, mode, setup);
        const releasedAt = present.flatMap((job) => job.workflow.tasks.map(() => job.at));
        const problem = {
          workflow,
          costs: costsOf(workflow),
          now: 0,
          availableFrom: [0, 0, 0, 0, 0],
          releasedAt,
          fixed: releasedAt.map(() => undefined),
        };
        const fault = findScheduleFault(problem, schedule);
        if (fault !== undefined) throw new Error(`${scheduler.name}, ${mode}: ${JSON.stringify(fault)}`);
        t.deepEqual(
          schedule.placements.map(({ task }) => task),
          releasedAt.map((_, task) => task),
        );
      },
    ),
    runs(220_817, 300),
  );
});

test('of several algorithms the schedule that leaves the fewest tasks without a place is taken, and of those the one that ends first with the time after its tasks', (t) => {
  fc.assert(
    fc.property(
      anyProblem,
      fc.array(fc.nat(5000), { minLength: 60, maxLength: 60 }),
      fc.option(fc.nat(20_000)),
      (problem, tails, until) => {
        fc.pre(
          problem.workflow.tasks.every(
            ({ widthMin }) => widthMin <= problem.availableFrom.filter((from) => from < Infinity).length,
          ),
        );
        const after = problem.workflow.tasks.map((_, task) => tails[task % tails.length] ?? 0);
        const bounded = {
          ...problem,
          after,
          ...(until === null
            ? {}
            : {
                availableUntil: problem.availableFrom.map((_, processor) =>
                  processor === 0 ? Infinity : problem.now + until,
                ),
              }),
        };
        const getWorth = ({ placements }: ReturnType<typeof auto.schedule>): [number, number] => [
          placements.filter(({ end }) => end === Infinity).length,
          Math.max(...placements.map(({ end }, task) => (end === Infinity ? -Infinity : end + (after[task] ?? 0)))),
        ];
        const [unplaced, end] = getWorth(chooseSchedule(bounded, gridPlanners));
        return gridPlanners.every((planner) => {
          const [otherUnplaced, otherEnd] = getWorth(planner.schedule(bounded));
          return unplaced < otherUnplaced || (unplaced === otherUnplaced && end <= otherEnd);
        });
      },
    ),
    runs(220_818, 200),
  );
  t.pass();
});

test('nothing is planned to end on a processor after that is gone, and tasks of several processors stay within one machine', (t) => {
  fc.assert(
    fc.property(
      anyProblem,
      fc.constantFrom(...candidates.slice(0, 2), hlfet),
      fc.array(fc.nat(30_000), { minLength: 8, maxLength: 8 }),
      (problem, scheduler, untils) => {
        const count = problem.availableFrom.length;
        const machineOf = problem.availableFrom.map((_, processor) => Math.floor(processor / 2));
        fc.pre(
          count >= 2 &&
            problem.availableFrom.slice(0, 2).every((from) => from < Infinity) &&
            problem.workflow.tasks.every(({ widthMin }) => widthMin <= 2),
        );
        const availableUntil = problem.availableFrom.map(
          (_, processor) => problem.now + (untils[processor % untils.length] ?? 0),
        );
        const { placements } = scheduler.schedule({ ...problem, machineOf, availableUntil });
        for (const [task, { processors, end }] of placements.entries()) {
          if (problem.fixed[task] !== undefined || end === Infinity) continue;
          if (processors.some((processor) => end > (availableUntil[processor] ?? 0)))
            throw new Error(`${scheduler.name}: task ${task} ends after a processor of its is gone`);
          if (new Set(processors.map((processor) => machineOf[processor])).size > 1)
            throw new Error(`${scheduler.name}: task ${task} is on two machines`);
        }
      },
    ),
    runs(220_819, 200),
  );
  t.pass();
});
