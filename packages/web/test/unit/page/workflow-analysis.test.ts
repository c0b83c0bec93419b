// Levels, the critical path and places of the graph.
import test from 'ava';
import { analyseWorkflow, isAnalysedAlike } from '../../../client/src/model/workflow/analysis.ts';
import { analysisOf, type Analyst } from '../../../client/src/model/workflow/analysis-of.ts';
import { boxPaths, FlowParts } from '../../../client/src/model/workflow/flow-parts.ts';
import { emptyWorkflow, freshTask } from '../../../client/src/model/workflow/graph.ts';
import { freePlace } from '../../../client/src/model/workflow/graph.ts';
import { layOut, layOutByLevels, wrapLevels } from '../../../client/src/model/workflow/layout.ts';

const edge = (from: string, to: string): (typeof emptyWorkflow.edges)[number] => ({
  from,
  to,
  data_bytes: 0,
  share: 0,
});
const diamond = {
  ...emptyWorkflow,
  tasks: [
    freshTask('a', 0, 0),
    { ...freshTask('long', 0, 100), work: 5000 },
    freshTask('short', 200, 100),
    freshTask('d', 0, 200),
  ],
  edges: [edge('a', 'long'), edge('a', 'short'), edge('long', 'd'), edge('short', 'd')],
};
const unmarked = { selectedTasks: new Set<string>(), dragged: new Map(), statuses: new Map() };

test('b-levels and the critical path are those of the longest way', (t) => {
  const analysis = analyseWorkflow(diamond);
  t.deepEqual(
    [...analysis.bLevels],
    [
      ['a', 7],
      ['long', 6],
      ['short', 2],
      ['d', 1],
    ],
  );
  t.deepEqual(analysis.criticalPath, ['a', 'long', 'd']);
  t.like(analysis, { criticalSeconds: 7, levelCount: 3, widestLevel: 2, workSeconds: 8, fault: undefined });
});

test('files that one task writes and another one reads count as data between them', (t) => {
  const [a, ...others] = diamond.tasks;
  const tasks = [
    { ...a!, outputs: [{ name: 'f', bytes: 125_000_000 }] },
    ...others.map((task) => (task.id === 'short' ? { ...task, inputs: [{ name: 'f', bytes: 0 }] } : task)),
  ];
  t.is(analyseWorkflow({ ...diamond, tasks }).bLevels.get('a'), 7);
  t.true(
    (analyseWorkflow({
      ...diamond,
      tasks: tasks.map((task) => (task.id === 'long' ? { ...task, work: 1000 } : task)),
    }).bLevels.get('a') ?? 0) > 4,
  );
});

test('a wrong workflow is reported, and nothing is said of its levels', (t) => {
  const wrong = analyseWorkflow({ ...diamond, edges: [...diamond.edges, edge('d', 'a')] });
  t.regex(wrong.fault ?? '', /\S/);
  t.is(wrong.bLevels.size, 0);
  t.is(analyseWorkflow(emptyWorkflow).fault, undefined);
});

test('boxes that look as before are the same objects as before, and where all do the list is the same too', (t) => {
  const parts = new FlowParts();
  const view = { analysis: analyseWorkflow(diamond), ...unmarked };
  const before = parts.nodesOf(diamond.tasks, view);
  t.is(parts.nodesOf([...diamond.tasks], { ...view, analysis: analyseWorkflow(diamond) }), before);
  const after = parts.nodesOf(diamond.tasks, { ...view, dragged: new Map([['short', { x: 300, y: 100 }]]) });
  t.deepEqual(
    before.map((node, index) => node === after[index]),
    [true, true, false, true],
  );
  t.deepEqual(after[2]?.position, { x: 300, y: 100 });
  const run = parts.nodesOf(diamond.tasks, { ...view, statuses: new Map([['a', 'running']]) });
  t.deepEqual([run[0]?.data.status, run[1] === before[1]], ['running', true]);
  const longer = analyseWorkflow({
    ...diamond,
    tasks: diamond.tasks.map((task) => (task.id === 'd' ? { ...task, work: 9000 } : task)),
  });
  t.deepEqual(
    parts.nodesOf(diamond.tasks, { ...view, analysis: longer }).map(({ data }) => data.more),
    ['1 s · b 15 s', '5 s · b 14 s', '1 s · b 10 s', '1 s · b 9 s'],
  );
});

test('boxes that are too small to be read are one shape for each look', (t) => {
  const view = { analysis: analyseWorkflow(diamond), ...unmarked };
  t.deepEqual(
    [...boxPaths(diamond.tasks, view)].map(([look, path]) => [look, path.split('M').length - 1]),
    [
      ['critical', 3],
      ['plain', 1],
    ],
  );
  t.deepEqual(
    [...boxPaths(diamond.tasks, { ...view, statuses: new Map([['a', 'failed']]) }).keys()],
    ['failed', 'critical', 'plain'],
  );
});

test('a change of places alone has no other analysis; any other change may', (t) => {
  const moved = { ...diamond, tasks: diamond.tasks.map((task) => ({ ...task, x: task.x + 5 })) };
  t.true(isAnalysedAlike(diamond, moved));
  t.false(isAnalysedAlike(diamond, { ...diamond, edges: [...diamond.edges] }));
  t.false(isAnalysedAlike(diamond, { ...diamond, tasks: diamond.tasks.map((task) => ({ ...task, work: 7 })) }));
  t.false(isAnalysedAlike(diamond, { ...diamond, tasks: diamond.tasks.slice(1) }));
});

test('a task is drawn below all that it waits for, by either layout', (t) => {
  const spec = {
    count: 7,
    edges: [
      [0, 2],
      [1, 2],
      [2, 3],
      [2, 4],
      [0, 5],
      [5, 6],
      [4, 6],
    ] as const,
  };
  for (const places of [layOut(spec), layOutByLevels(spec)]) {
    for (const [from, to] of spec.edges) t.true((places[from]?.[1] ?? 0) < (places[to]?.[1] ?? 0));
    t.is(new Set(places.map(([x, y]) => `${x}/${y}`)).size, 7);
  }
});

interface Faked {
  readonly id: number;
  terminate(): void;
}

test('a worker that failed is ended and not asked again, and the page knows the same', async (t) => {
  const ended: number[] = [];
  const asked: number[] = [];
  let count = 0;
  const analyst: Analyst<Faked> = { worker: undefined };
  const start = (): Faked => {
    const id = count++;
    return {
      id,
      terminate: () => {
        ended.push(id);
      },
    };
  };
  const ask = ({ id }: Faked): Promise<never> => {
    asked.push(id);
    return Promise.reject(new Error('it did not load'));
  };
  for (let round = 0; round < 2; round++)
    t.deepEqual(await analysisOf(analyst, diamond, { start, ask }), analyseWorkflow(diamond));
  t.deepEqual(
    [asked, ended],
    [
      [0, 1],
      [0, 1],
    ],
  );
});

test('a level of very many tasks is wrapped into rows, and still lies above the next', (t) => {
  for (const wide of [40, 1000]) {
    const edges = Array.from({ length: wide }, (_, index) => [
      [0, index + 1],
      [index + 1, wide + 1],
    ]).flat() as [number, number][];
    const places = layOut({ count: wide + 2, edges });
    const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
    const ratio = (Math.max(...xs) - Math.min(...xs)) / (Math.max(...ys) - Math.min(...ys));
    t.true(ratio < 4, `${wide}: ${ratio}`);
    for (const [from, to] of edges) t.true((ys[from] ?? 0) < (ys[to] ?? 0));
    t.is(new Set(places.map(([x, y]) => `${x}/${y}`)).size, wide + 2);
  }
  const narrow = [
    [0, 0],
    [200, 0],
    [0, 116],
  ] as const;
  t.is(wrapLevels(narrow), narrow);
});

test('a task that is added hides no other one', (t) => {
  const tasks: { x: number; y: number }[] = [];
  for (let count = 0; count < 12; count += 1) tasks.push(freePlace({ tasks: tasks as never }, { x: 10, y: 20 }));
  t.deepEqual(tasks[0], { x: 10, y: 20 });
  for (const [index, one] of tasks.entries())
    for (const other of tasks.slice(index + 1))
      t.true(Math.abs(one.x - other.x) >= 168 || Math.abs(one.y - other.y) >= 52);
});
