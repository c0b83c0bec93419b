/** What a cell of a table may hold. */
export type Cell = string | number | boolean;

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Writes a row of comma-separated values (RFC 4180), without its line end. A text that begins as a formula does gets an
 * apostrophe in front, which spreadsheets take as "this is text"; numbers stay as they are.
 */
export function printCsvRow(cells: readonly Cell[]): string {
  return cells.map(printCell).join(',');
}

function printCell(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell);
  const safe = /^[=+\-@\t\r]/.test(cell) && !number.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
