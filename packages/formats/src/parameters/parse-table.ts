import { FormatError, showFound } from '../format-error.ts';
import { findNameProblem, parameterValuesMax, type Parameter } from './parse-parameter.ts';
import { readTable, type TableRow } from './read-table.ts';

/** How a file of parameters is read. */
export interface ParameterTable {
  /** The file as the user named it. */
  readonly subject: string;
  /** One character. */
  readonly separator: string;
  /** Whether the first row names the columns; else they are called 1, 2, 3, ... */
  readonly hasHeader: boolean;
}

/**
 * Reads a file of parameters: each column is one, each row a task.
 *
 * @throws {FormatError} MUT_BAD_REQUEST for what is wrong with a cell, and for a row of another length.
 */
export function parseParameterTable(text: string, table: ParameterTable): Parameter[] {
  const rows = readTable(text, table);
  const [first] = rows;
  if (first === undefined)
    throw problem(table, 1, 'no row', table.hasHeader ? 'a row of names, and rows of values' : 'a row of values');
  const names = table.hasHeader ? readNames(first, table) : first.cells.map((_, index) => String(index + 1));
  const body = table.hasHeader ? rows.slice(1) : rows;
  if (body.length === 0)
    throw problem(table, first.line, 'only a row of names', 'rows of values below it, or --no-header');
  if (body.length > parameterValuesMax)
    throw problem(table, first.line, `${body.length} rows`, `at most ${parameterValuesMax}`);
  requireLengths(body, names, table);
  return names.map((name, column) => ({
    name,
    values: body.map(({ cells }) => cells[column] ?? ''),
    text: `${body.length} ${body.length === 1 ? 'value' : 'values'}`,
  }));
}

function requireLengths(body: readonly TableRow[], names: readonly string[], table: ParameterTable): void {
  for (const { line, cells } of body) {
    if (cells.length === names.length) continue;
    const shown = names
      .map((name) => JSON.stringify(name))
      .slice(0, 8)
      .join(', ');
    throw problem(
      table,
      line,
      `a row of ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`,
      `${names.length}, one for each of ${shown}${names.length > 8 ? ', ...' : ''}`,
    );
  }
}

function readNames({ line, cells }: TableRow, table: ParameterTable): string[] {
  const names = cells.map((cell) => cell.trim());
  for (const [column, name] of names.entries()) {
    const expected = findNameProblem(name);
    if (expected !== undefined) {
      const found = name === '' ? `no name for column ${column + 1}` : `the name ${showFound(name)}`;
      throw problem(table, line, found, `${expected}; --no-header names columns 1, 2, 3`);
    }
    if (names.indexOf(name) !== column)
      throw problem(table, line, `two columns named ${JSON.stringify(name)}`, 'a name for each that no other has');
  }
  return names;
}

function problem({ subject }: ParameterTable, line: number, found: string, expected: string): FormatError {
  return new FormatError({ code: 'MUT_BAD_REQUEST', subject, line, column: 1, found, expected });
}
