import test from 'ava';
import { getEdges, predecessorsIn } from '../../../src/world/plan-edges.ts';

test('each task waits for some before it and for no more than it may, and a job that is cut short keeps its edges', (t) => {
  const plan = { predecessorsMax: 3, taskCount: 200 };
  const edges = getEdges(plan);
  t.true(edges.length > 100 && edges.every(({ from, to }) => from < to));
  for (let task = 0; task < 200; task++) t.true(predecessorsIn(plan, task).length <= 3);
  t.deepEqual(
    getEdges({ ...plan, taskCount: 50 }),
    edges.filter(({ to }) => to < 50),
  );
  t.deepEqual(getEdges({ taskCount: 200 }), [], 'a bag has none');
});
