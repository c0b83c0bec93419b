import fc from 'fast-check';
import {
  freshProblem,
  makeWorkflow,
  platformCosts,
  tableCosts,
  type CostTables,
  type SchedulingProblem,
  type Workflow,
  type WorkflowDraft,
} from '@mutirao/core/workflow';

/** Run times of the ten tasks of Topcuoglu, Hariri and Wu 2002, Figure 2, on their three processors. */
const tenTimes = [
  [14, 16, 9],
  [13, 19, 18],
  [11, 13, 19],
  [13, 8, 17],
  [12, 13, 10],
  [13, 16, 9],
  [7, 15, 11],
  [5, 11, 14],
  [18, 12, 20],
  [21, 7, 16],
];

/** Its edges: from, to, time of the transfer. */
const tenEdges: readonly (readonly [number, number, number])[] = [
  [1, 2, 18],
  [1, 3, 12],
  [1, 4, 9],
  [1, 5, 11],
  [1, 6, 14],
  [2, 8, 19],
  [2, 9, 16],
  [3, 7, 23],
  [4, 8, 27],
  [4, 9, 23],
  [5, 9, 13],
  [6, 8, 15],
  [7, 10, 17],
  [8, 10, 11],
  [9, 10, 13],
];

/** The example of ten tasks, which is also Figura 2.1 of moreira2009. Its tasks are named 1 to 10. */
export function tenTasks(): {
  readonly workflow: Workflow;
  readonly tables: CostTables;
  readonly problem: SchedulingProblem;
} {
  const workflow = makeWorkflow({
    tasks: tenTimes.map((_, index) => ({ id: String(index + 1), work: 0 })),
    edges: tenEdges.map(([from, to]) => ({ from: String(from), to: String(to) })),
  });
  const tables = { times: tenTimes, transfers: tenEdges.map(([, , time]) => time) };
  return { workflow, tables, problem: freshProblem(workflow, tableCosts(workflow, tables), 3) };
}

/**
 * Workflows of up to 24 tasks, moldable, rigid and of one processor, with tasks and edges that cost nothing among them.
 */
export const anyDraft: fc.Arbitrary<WorkflowDraft> = fc
  .array(
    fc.record({
      work: fc.constantFrom(0, 1, 7, 100, 2_500),
      exchange: fc.constantFrom(0, 0, 1_000, 1_000_000),
      widths: fc.constantFrom<readonly [number, number]>([1, 1], [1, 1], [1, 8], [2, 2], [2, 4]),
      parents: fc.array(
        fc.record({
          back: fc.integer({ min: 1, max: 6 }),
          data: fc.constantFrom(0, 10, 100_000),
          share: fc.constantFrom(0, 0, 0.3),
        }),
        { maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 24 },
  )
  .map((rows) => ({
    tasks: rows.map(({ work, exchange, widths: [widthMin, widthMax] }, index) => ({
      id: `t${index}`,
      work,
      exchange,
      widthMin,
      widthMax,
    })),
    edges: rows.flatMap(({ parents }, index) => {
      const byParent = new Map(parents.map(({ back, data, share }) => [index - back, { data, share }]));
      return [...byParent]
        .filter(([parent]) => parent >= 0)
        .map(([parent, costs]) => ({ from: `t${parent}`, to: `t${index}`, ...costs }));
    }),
  }));

/**
 * Such workflows on two to seven processors of unlike speed, with a machine that comes later, one that is gone, and
 * tasks of a job that arrives later.
 */
export const anyProblem: fc.Arbitrary<SchedulingProblem> = fc
  .record({
    draft: anyDraft,
    speeds: fc.array(fc.constantFrom(100, 50, 25, 800), { minLength: 2, maxLength: 7 }),
    now: fc.constantFrom(0, 500),
    late: fc.boolean(),
    hasGone: fc.boolean(),
    released: fc.constantFrom(0, 0, 900),
  })
  .map(({ draft, speeds, now, late, hasGone, released }) => {
    const workflow = makeWorkflow(draft);
    const platform = {
      startUp: 1,
      bandwidth: 125_000,
      processors: speeds.map((speed, index) => ({ name: `p${index}`, speed })),
    };
    const problem = freshProblem(workflow, platformCosts(workflow, platform), speeds.length);
    const availableFrom = speeds.map((_, index) => (index === 0 && late ? 700 : index === 3 && hasGone ? Infinity : 0));
    return {
      ...problem,
      now,
      availableFrom,
      releasedAt: workflow.tasks.map((_, index) => (index % 2 === 0 ? 0 : released)),
    };
  });
