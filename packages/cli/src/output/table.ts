/** A column: its heading, and whether its cells are numbers, which stand to the right. */
export interface Column {
  readonly title: string;
  readonly right?: boolean;
}

/**
 * Lays out rows under their headings, two spaces between columns, without trailing spaces.
 *
 * @param rows each has one cell per column.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map((column, index) => Math.max(column.title.length, ...rows.map((row) => (row[index] ?? '').length)));
  const line = (cells: readonly string[]): string => cells
    .map((cell, index) => (columns[index]?.right === true ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0)))
    .join('  ').trimEnd();
  return [line(columns.map((column) => column.title)), ...rows.map(line)];
}

/** Lays out names and values, one pair a line; pairs without a value are left out. */
export function renderPairs(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const told = pairs.filter(([, value]) => value !== '');
  const width = Math.max(0, ...told.map(([name]) => name.length));
  return told.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}
