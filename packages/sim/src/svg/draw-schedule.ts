import { getMakespan, type Placement, type Schedule } from '@mutirao/core/workflow';

import { roundStep, tenths, text } from './svg-text.ts';

/** What is drawn. */
export interface ScheduleMap {
  readonly title: string;
  readonly schedule: Schedule;
  /** Names of the processors, a row each. */
  readonly processors: readonly string[];
  /** What is written into a box, by index of the task. */
  readonly taskIds: readonly string[];
  /** The colour group of each task, by index: its kind, or its job. */
  readonly groups: readonly string[];
  /** What the groups are, for the legend: `job`. */
  readonly groupName: string;
}

const left = 130;
const width = 900;
const row = 18;
const top = 40;
const legendRow = 20;
/** Entries of the legend in a row. */
const kindsAcross = 8;
const colours = [
  '#8dd3c7',
  '#ffd92f',
  '#bebada',
  '#fb8072',
  '#80b1d3',
  '#fdb462',
  '#b3de69',
  '#fccde5',
  '#d9d9d9',
  '#bc80bd',
  '#ccebc5',
  '#e5c494',
];

/**
 * Draws when which task is on which processor: a row for each processor, a box for each task on it, time in seconds
 * below, and what the colours are.
 */
export function drawSchedule({ title, schedule, processors, taskIds, groups, groupName }: ScheduleMap): string {
  const first = schedule.placements.reduce((least, { start }) => Math.min(least, start), Infinity);
  const makespan = Math.max(getMakespan(schedule), 1e-9);
  const kinds = [...new Set(groups)];
  const x = (instant: number): number => left + ((instant - first) / makespan) * width;
  const getBox = ({ task, start, end }: Placement, processor: number): string => {
    const span = x(end) - x(start);
    const fill = colours[kinds.indexOf(groups[task] ?? '') % colours.length] as string;
    const label =
      (taskIds[task] ?? '').length * 6 < span
        ? text(taskIds[task] ?? '', {
            x: x(start) + span / 2,
            y: top + processor * row + 13,
            anchor: 'middle',
            size: 10,
          })
        : '';
    return (
      `<rect x="${tenths(x(start))}" y="${top + processor * row + 1}" width="${tenths(Math.max(span, 0.5))}" ` +
      `height="${row - 2}" fill="${fill}" stroke="#555" stroke-width="0.5"/>${label}`
    );
  };
  const boxes = schedule.placements.flatMap((placement) =>
    placement.processors.map((processor) => getBox(placement, processor)),
  );
  const names = processors.map((name, index) =>
    text(name, { x: left - 6, y: top + index * row + 13, anchor: 'end', size: 11 }),
  );
  const bottom = top + processors.length * row;
  const marks = roundTimes(makespan / 1000).flatMap((time) => {
    const at = left + ((1000 * time) / makespan) * width;
    return [
      `<line x1="${tenths(at)}" x2="${tenths(at)}" y1="${top}" y2="${bottom + 4}" stroke="#c4cbd3"/>`,
      text(`${time} s`, { x: at, y: bottom + 17, anchor: 'middle', size: 11 }),
    ];
  });
  const end = text(`the last task ends at ${Math.round(makespan / 100) / 10} s`, {
    x: left + width,
    y: 22,
    anchor: 'end',
    size: 11,
  });
  const legend = drawLegend(kinds, groupName, bottom + 40);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + width + 40}" ` +
      `height="${bottom + 40 + legendRow * Math.ceil(kinds.length / kindsAcross)}" font-family="sans-serif">`,
    '<rect width="100%" height="100%" fill="white"/>',
    text(title, { x: left, y: 22, anchor: 'start', size: 14, isBold: true }),
    end,
    ...names,
    ...marks,
    ...boxes,
    ...legend,
    '</svg>',
    '',
  ].join('\n');
}

/** Round times from 0 to the end, in seconds, five to eleven. */
function roundTimes(seconds: number): number[] {
  const step = roundStep(seconds);
  return Array.from({ length: Math.floor(seconds / step + 1e-9) + 1 }, (_, index) =>
    Number((index * step).toPrecision(6)),
  );
}

/** What each colour is. More groups than colours share some; those have an entry each. */
function drawLegend(kinds: readonly string[], groupName: string, y: number): string[] {
  const named = kinds.filter((kind) => kind !== '');
  return named.flatMap((kind, index) => {
    const [column, line] = [index % kindsAcross, Math.floor(index / kindsAcross)];
    const x = left + (column * width) / kindsAcross;
    return [
      `<rect x="${tenths(x)}" y="${y + line * legendRow - 10}" width="12" height="12" ` +
        `fill="${colours[kinds.indexOf(kind) % colours.length]}" stroke="#555" stroke-width="0.5"/>`,
      text(`${groupName} ${kind}`, { x: x + 18, y: y + line * legendRow, anchor: 'start', size: 11 }),
    ];
  });
}
