import test from 'ava';
import { Prng } from '@mutirao/core/shared';
import { drawArrivals, drawEdges, drawShapes, jobCount, taskCount, type JobReading } from '@mutirao/sim/moreira2009';

const usual: JobReading = { sizes: 'any', exchangeFactor: 1 };
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

test('every draw has twelve jobs with 200 tasks, one every ten seconds', (t) => {
  for (const sizes of ['any', 'even'] as const) {
    for (let draw = 0; draw < 30; draw += 1) {
      const arrivals = drawArrivals(`a/${draw}`, { ...usual, sizes });
      t.is(sum(arrivals.map(({ workflow }) => workflow.tasks.length)), taskCount);
      t.deepEqual(
        arrivals.map(({ at }) => at),
        Array.from({ length: jobCount }, (_, job) => 10_000 * job),
      );
      if (sizes === 'even')
        t.true(arrivals.every(({ workflow }) => workflow.tasks.length === 16 || workflow.tasks.length === 17));
    }
  }
});

test('entries come first and exits last, edges lead upwards, and every task has two to five of them', (t) => {
  for (let draw = 0; draw < 60; draw += 1) {
    const prng = new Prng(`b/${draw}`);
    for (const [job, shape] of drawShapes(prng, 'any').entries()) {
      const { entries, inner, exits } = shape;
      t.true(entries >= 1 && entries <= 4 && exits >= 1 && exits <= 4 && inner >= 2);
      const edges = drawEdges(prng.fork(`job ${job}`), shape);
      const size = entries + inner + exits;
      t.true(edges.every(([from, to]) => from < to && to < size));
      t.is(new Set(edges.map((edge) => edge.join(' '))).size, edges.length);
      const [incoming, outgoing] = [1, 0].map((end) =>
        Array.from({ length: size }, (_, task) => edges.filter((edge) => edge[end] === task).length),
      ) as [number[], number[]];
      t.deepEqual(
        incoming.map((count) => count === 0),
        incoming.map((_, task) => task < entries),
      );
      t.deepEqual(
        outgoing.map((count) => count === 0),
        outgoing.map((_, task) => task >= size - exits),
      );
      t.true(
        incoming.every(
          (count, task) => count + (outgoing[task] as number) >= 2 && count + (outgoing[task] as number) <= 5,
        ),
      );
    }
  }
});

test('the same seed is the same jobs, and another exchange changes nothing else', (t) => {
  const bare = (reading: JobReading): unknown =>
    drawArrivals('c', reading).map(({ workflow }) => workflow.tasks.map((task) => ({ ...task, exchange: 0 })));
  t.deepEqual(drawArrivals('c', usual), drawArrivals('c', usual));
  t.notDeepEqual(drawArrivals('c', usual), drawArrivals('d', usual));
  t.deepEqual(bare(usual), bare({ ...usual, exchangeFactor: 20 }));
  t.not(
    drawArrivals('c', usual)[0]?.workflow.tasks[0]?.exchange,
    drawArrivals('c', { ...usual, exchangeFactor: 20 })[0]?.workflow.tasks[0]?.exchange,
  );
});
