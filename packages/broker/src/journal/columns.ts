/**
 * A list of numbers as the journal keeps it: one number when all are the same, `{ s }` when they count up by one from
 * `s`,
 * otherwise a base and each one's distance from it.
 */
export type NumberColumn = number | { readonly s: number } | { readonly b: number; readonly d: readonly number[] };

/** A list of texts as the journal keeps it: one text when all are the same. */
export type TextColumn<T extends string = string> = T | readonly T[];

/** Packs one number of each row. Cost: O(rows). */
export function packNumbers<Row>(rows: readonly Row[], read: (row: Row) => number): NumberColumn {
  const first = rows[0];
  if (first === undefined) return 0;
  const base = read(first);
  let same = true;
  let counting = true;
  for (let index = 1; index < rows.length && (same || counting); index += 1) {
    const value = read(rows[index] as Row);
    if (value !== base) same = false;
    if (value !== base + index) counting = false;
  }
  if (same) return base;
  if (counting) return { s: base };
  return { b: base, d: rows.map((row) => read(row) - base) };
}

/** Reads one number back. */
export function numberAt(column: NumberColumn, index: number): number {
  if (typeof column === 'number') return column;
  if ('s' in column) return column.s + index;
  return column.b + (column.d[index] ?? 0);
}

/** Packs one text of each row. Cost: O(rows). */
export function packTexts<Row, T extends string>(rows: readonly Row[], read: (row: Row) => T): TextColumn<T> {
  const first = rows[0];
  if (first === undefined) return [];
  const base = read(first);
  for (let index = 1; index < rows.length; index += 1) {
    if (read(rows[index] as Row) !== base) return rows.map(read);
  }
  return base;
}

/** Reads one text back. */
export function textAt<T extends string>(column: TextColumn<T>, index: number): T {
  return typeof column === 'string' ? column : (column[index] as T);
}
