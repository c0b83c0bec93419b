// Bars of machines: lanes, files on their way, and sums where there are many.
import test from 'ava';
import type { Gantt } from '@mutirao/web/schema';
import { laneBars, layOutGantt, sumKinds } from '../../../client/src/model/gantt.ts';

const bars = {
  row: [0, 0, 0, 1],
  start_unix_ms: [0, 5, 10, 0],
  end_unix_ms: [10, 15, 20, 4],
  kind: [1, 1, 2, 0],
  task_index: [7, 8, 9, 7],
  replica_id: [1, 2, 3, 4],
};
const gantt: Gantt = {
  job_id: 1,
  from_unix_ms: 0,
  until_unix_ms: 20,
  job_from_unix_ms: 0,
  job_until_unix_ms: 20,
  kinds: ['inputs', 'accepted', 'loser'],
  rows: [
    { machine_id: 'a', provider_id: 'p' },
    { machine_id: 'b', provider_id: 'p' },
  ],
  rows_left_out: 0,
  bars,
  cells: null,
  bin_ms: 1,
  read_task_count: 3,
  task_count: 3,
};
const summed = (cells: NonNullable<Gantt['cells']>, binMs = 10): Gantt => ({
  ...gantt,
  bars: null,
  cells,
  bin_ms: binMs,
  until_unix_ms: 1000,
});

test('bars of one machine that overlap are in lanes of their own, and a lane is used again', (t) =>
  t.deepEqual(laneBars(bars, 2), { lane: [0, 1, 0, 0], laneCounts: [2, 1] }));

test('runs share the upper part of their row, and files on their way are below them, also while another task runs', (t) => {
  const { shapes, rows } = layOutGantt({ ...gantt, bars: { ...bars, row: [0, 0, 0, 0] } });
  t.deepEqual(rows, ['a', 'b']);
  t.deepEqual(
    shapes.map(({ bar, top, bottom }) => [bar, top, bottom]),
    [
      [0, 0, 0.4],
      [1, 0.4, 0.8],
      [2, 0, 0.4],
      [3, 0.8, 1],
    ],
  );
  t.deepEqual(
    layOutGantt({ ...gantt, bars: { ...bars, kind: [1, 1, 2, 1] } }).shapes.map(({ bottom }) => bottom),
    [0.5, 1, 0.5, 1],
    'without files the runs have all of the row',
  );
});

test('a part of a chart keeps the rows of the whole, and what is of none of them is left out', (t) => {
  t.deepEqual(
    layOutGantt(gantt, ['z', 'b']).shapes.map(({ row, bar }) => [row, bar]),
    [[1, 3]],
  );
});

test('sums of neighbouring stretches that look alike are one shape, as high as the share of the time', (t) => {
  const { shapes } = layOutGantt(
    summed({ row: [0, 0, 0, 0], bin: [0, 1, 2, 2], kind: [1, 1, 1, 2], busy_ms: [10, 10, 5, 2] }),
  );
  t.deepEqual(
    shapes.map(({ start, end, kind, share, bar }) => [start, end, kind, share, bar]),
    [
      [0, 20, 1, 1, -1],
      [20, 30, 1, 0.5, -1],
      [20, 30, 2, 0.1875, -1],
    ],
  );
  t.true(Math.abs((shapes[0]?.bottom ?? 0) - (shapes[0]?.top ?? 0) - 0.8) < 1e-9);
});

test('the work of a machine of four processors is a share of the four, and a small share is visible', (t) => {
  const { shapes } = layOutGantt(summed({ row: [1, 1, 1], bin: [0, 1, 1], kind: [1, 1, 0], busy_ms: [40, 0.1, 10] }));
  t.deepEqual(
    shapes.map(({ row, start, kind, share }) => [row, start, kind, share]),
    [
      [1, 0, 1, 1],
      [1, 10, 0, 1],
      [1, 10, 1, 1 / 16],
    ],
  );
});

test('a hundred thousand sums of machines that were busy all the time are a shape for each machine', (t) => {
  const [rowCount, binCount] = [1000, 120];
  const cells = { row: [] as number[], bin: [] as number[], kind: [] as number[], busy_ms: [] as number[] };
  for (let row = 0; row < rowCount; row += 1)
    for (let bin = 0; bin < binCount; bin += 1) {
      cells.row.push(row);
      cells.bin.push(bin);
      cells.kind.push(1);
      cells.busy_ms.push(10);
    }
  const many = {
    ...summed(cells),
    until_unix_ms: 1200,
    rows: Array.from({ length: rowCount }, (_, row) => ({ machine_id: `m${row}`, provider_id: 'p' })),
  };
  t.is(layOutGantt(many).shapes.length, rowCount);
});

test('times of a kind add up, of bars and of cells', (t) => {
  t.deepEqual(sumKinds(gantt), [4, 20, 10]);
  t.deepEqual(
    sumKinds({ ...gantt, bars: null, cells: { row: [0, 0], bin: [0, 1], kind: [1, 1], busy_ms: [3, 4] } }),
    [0, 7, 0],
  );
});
