import { makespanOf, type Placement, type Schedule } from '@mutirao/core/workflow';

import { tenths, text } from './svg-text.ts';

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
}

const left = 130;
const width = 900;
const row = 18;
const top = 40;
const colours = ['#8dd3c7', '#ffd92f', '#bebada', '#fb8072', '#80b1d3', '#fdb462', '#b3de69', '#fccde5', '#d9d9d9', '#bc80bd', '#ccebc5', '#e5c494'];

/** Draws when which task is on which processor: a row for each processor, a box for each task on it, time in seconds below. */
export function drawSchedule({ title, schedule, processors, taskIds, groups }: ScheduleMap): string {
  const first = schedule.placements.reduce((least, { start }) => Math.min(least, start), Infinity);
  const makespan = Math.max(makespanOf(schedule), 1e-9);
  const kinds = [...new Set(groups)];
  const x = (instant: number): number => left + ((instant - first) / makespan) * width;
  const boxOf = ({ task, start, end }: Placement, processor: number): string => {
    const span = x(end) - x(start);
    const fill = colours[kinds.indexOf(groups[task] ?? '') % colours.length] as string;
    const label = (taskIds[task] ?? '').length * 6 < span ? text(taskIds[task] ?? '', { x: x(start) + span / 2, y: top + processor * row + 13, anchor: 'middle', size: 10 }) : '';
    return `<rect x="${tenths(x(start))}" y="${top + processor * row + 1}" width="${tenths(Math.max(span, 0.5))}" height="${row - 2}" fill="${fill}" stroke="#555" stroke-width="0.5"/>${label}`;
  };
  const boxes = schedule.placements.flatMap((placement) => placement.processors.map((processor) => boxOf(placement, processor)));
  const names = processors.map((name, index) => text(name, { x: left - 6, y: top + index * row + 13, anchor: 'end', size: 11 }));
  const bottom = top + processors.length * row;
  const marks = [0, 0.25, 0.5, 0.75, 1].map((share) => text(`${Math.round((share * makespan) / 100) / 10} s`, { x: left + share * width, y: bottom + 16, anchor: 'middle', size: 11 }));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + width + 40}" height="${bottom + 30}" font-family="sans-serif">`, '<rect width="100%" height="100%" fill="white"/>',
    text(title, { x: left, y: 22, anchor: 'start', size: 14, isBold: true }), ...names, ...boxes, ...marks, '</svg>', '',
  ].join('\n');
}
