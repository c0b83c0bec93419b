import test from 'ava';
import { drawSchedule, type ScheduleMap } from '@mutirao/sim';

const map: ScheduleMap = {
  title: 'a < b',
  processors: ['p1', 'p2'],
  taskIds: ['1.1', '2.1', '2.2'],
  groups: ['1', '2', '2'],
  groupName: 'job',
  schedule: {
    scheduler: 'HEFT',
    placements: [
      [0, 0, 300_000],
      [1, 0, 884_600],
      [0, 300_000, 700_000],
    ].map(([processor, start, end], task) => ({
      task,
      processors: [processor as number],
      start: start as number,
      end: end as number,
    })),
  } as unknown as ScheduleMap['schedule'],
};

test('the marks of a map are round times, and its end is marked apart', (t) => {
  const svg = drawSchedule(map);
  const marks = [...svg.matchAll(/>([\d.]+) s</g)].map(([, time]) => Number(time));
  t.deepEqual(marks, [0, 100, 200, 300, 400, 500, 600, 700, 800]);
  t.true(svg.includes('the last task ends at 884.6 s'));
});

test('the legend has each colour once, below the map', (t) => {
  const svg = drawSchedule(map);
  for (const name of ['job 1', 'job 2']) t.is(svg.split(`>${name}<`).length, 2, name);
  const [legend, marks] = ['job 1', '0 s'].map((name) =>
    Number(new RegExp(`y="([\\d.]+)"[^>]*>${name}<`).exec(svg)?.[1]),
  );
  t.true((legend ?? 0) > (marks ?? 0));
  const unnamed = drawSchedule({ ...map, groups: ['', '', ''] });
  t.false(unnamed.includes('>job '));
});
