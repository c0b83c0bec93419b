import type { CalendarSlot } from '@mutirao/api/reservation';

/** What is drawn. */
export interface Drawing {
  readonly slots: readonly CalendarSlot[];
  readonly from: number;
  readonly until: number;
  readonly total: number;
  /** The most that can be reserved. */
  readonly cap: number;
  /** Columns of the terminal. */
  readonly columns: number;
}

const rowCount = 8;
const eighths = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const labelWidth = 7;
const tickEvery = 12;
const day = 24 * 3_600_000;

/**
 * Draws how much is reserved over time, as bars: a column is a stretch of time and as high as the most that is reserved
 * in it.
 *
 * The dotted line is what the owner offers, where that is less than all.
 */
export function drawCalendar(drawing: Drawing): string[] {
  const { from, until, total, cap, columns } = drawing;
  const width = Math.max(tickEvery, Math.min(columns, 120) - labelWidth - 1);
  const heights = peaks(drawing, width).map((used) => Math.ceil((used / total) * rowCount * 8 - 1e-9));
  const capRow = cap < total ? Math.min(rowCount - 1, Math.floor((cap / total) * rowCount)) : rowCount;
  const rows = Array.from({ length: rowCount }, (_none, index) => {
    const row = rowCount - 1 - index;
    const empty = row === capRow ? '·' : ' ';
    const bar = heights
      .map((height) => eighths[Math.max(0, Math.min(8, height - row * 8))] ?? ' ')
      .map((cell) => (cell === ' ' ? empty : cell))
      .join('');
    return `${getLabel(row).padStart(labelWidth - 1)} ┤${bar}`.trimEnd();
  });
  return [
    ...rows,
    `${' '.repeat(labelWidth)}└${tickLine(width)}`,
    `${' '.repeat(labelWidth + 1)}${timeLine({ from, until, width })}`.trimEnd(),
  ];
}

function peaks({ slots, from, until }: Drawing, width: number): number[] {
  const step = (until - from) / width;
  const found = new Array<number>(width).fill(0);
  for (const { startUnixMs, endUnixMs, used } of slots) {
    const first = Math.max(0, Math.floor((startUnixMs - from) / step));
    const last = Math.min(width - 1, Math.ceil((endUnixMs - from) / step) - 1);
    for (let column = first; column <= last; column += 1) found[column] = Math.max(found[column] ?? 0, used);
  }
  return found;
}

function getLabel(row: number): string {
  if (row === rowCount - 1) return '100 %';
  return row === rowCount / 2 - 1 ? '50 %' : '';
}

function tickLine(width: number): string {
  return Array.from({ length: width }, (_none, column) => (column % tickEvery === 0 ? '┬' : '─')).join('');
}

/** The time at every tick; the day too where the window is longer than one. */
function timeLine({
  from,
  until,
  width,
}: {
  readonly from: number;
  readonly until: number;
  readonly width: number;
}): string {
  let line = '';
  for (let column = 0; column < width - 4; column += tickEvery) {
    const at = new Date(from + ((until - from) * column) / width);
    const two = (value: number): string => String(value).padStart(2, '0');
    const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
    line = line.padEnd(column) + (until - from > day ? `${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}` : time);
  }
  return line;
}
