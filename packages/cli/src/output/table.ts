import { showText } from '@mutirao/core/shared';

/** A column: its heading, and whether its cells are numbers, which stand to the right. */
export interface Column {
  readonly title: string;
  readonly right?: boolean;
}

/**
 * Lays out rows under their headings, two spaces between columns, without trailing spaces.
 *
 * @param given each has one cell per column; what would control a terminal is shown as an escape.
 */
export function renderTable(columns: readonly Column[], given: readonly (readonly string[])[]): string[] {
  const rows = given.map((row) => row.map(showText));
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) =>
        columns[index]?.right === true ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(columns.map((column) => column.title)), ...rows.map(line)];
}

/** Lays out names and values, one pair a line; pairs without a value are left out. */
export function renderPairs(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const reported = pairs
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [showText(name), showText(value)] as const);
  const width = Math.max(0, ...reported.map(([name]) => name.length));
  return reported.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}
