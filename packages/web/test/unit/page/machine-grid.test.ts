// Where machines are in the picture.
import test from 'ava';
import { layOutMachines, machineAt, machineBeside } from '../../../client/src/model/machine-grid.ts';

test('cells are as large as fit, and the picture grows only where they would be too small', (t) => {
  t.like(layOutMachines(10, 600, 150), { pitch: 18, rows: 1 });
  const thousand = layOutMachines(1000, 600, 150);
  t.true(thousand.height <= 150 && thousand.columns * thousand.rows >= 1000);
  t.like(layOutMachines(100_000, 300, 150), { pitch: 3, height: 3000 });
});

test('a place leads to its machine, and the gap behind the last one to none', (t) => {
  const grid = layOutMachines(250, 500, 150);
  for (const index of [0, 17, 249])
    t.is(
      machineAt(grid, 250, {
        x: (index % grid.columns) * grid.pitch + 1,
        y: Math.floor(index / grid.columns) * grid.pitch + 1,
      }),
      index,
    );
  t.is(machineAt(grid, 250, { x: 499, y: grid.height - 1 }), undefined);
});

test('arrow keys go from machine to machine and never out of the picture', (t) => {
  const grid = layOutMachines(250, 500, 150);
  t.is(machineBeside(grid, 250, { index: 5, key: 'ArrowDown' }), 5 + grid.columns);
  t.is(machineBeside(grid, 250, { index: 0, key: 'ArrowLeft' }), 0);
  t.is(machineBeside(grid, 250, { index: 3, key: 'End' }), 249);
  t.is(machineBeside(grid, 250, { index: 3, key: 'x' }), undefined);
});
