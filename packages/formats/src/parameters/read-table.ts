import { FormatError, showFound } from '../format-error.ts';

/** A row of a table, and the line of the file where it begins, from 1. */
export interface TableRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** How a table is read. */
export interface TableFormat {
  /** The file as the user named it, for errors. */
  readonly subject: string;
  /** One character. */
  readonly separator: string;
}

/**
 * Reads comma-separated values as RFC 4180 has them: quotes around cells, `""` for a quote in them, lines that end in
 * LF, CRLF or CR. A byte order mark is skipped, and so are empty lines. Cost: linear.
 *
 * Not csv-parse: it counts a CRLF inside a cell as two lines, and its errors name no column of the text.
 *
 * @throws {FormatError} MUT_BAD_REQUEST for a quote without its end, text behind a quoted cell, or a NUL.
 */
export function readTable(text: string, format: TableFormat): TableRow[] {
  const reader = new TableReader(text.startsWith('\uFEFF') ? text.slice(1) : text, format);
  const rows: TableRow[] = [];
  for (let row = reader.row(); row !== undefined; row = reader.row()) rows.push(row);
  return rows;
}

class TableReader {
  readonly #text: string;
  readonly #format: TableFormat;
  /** Ends a cell without quotes. */
  readonly #end: RegExp;
  #at = 0;
  #line = 1;

  constructor(text: string, format: TableFormat) {
    this.#text = text;
    this.#format = format;
    this.#end = new RegExp(`[\\r\\n\\0${format.separator.replace(/[\\\]^-]/, '\\$&')}]`, 'g');
  }

  /** The next row that is not empty; undefined at the end. */
  row(): TableRow | undefined {
    while (this.#at < this.#text.length) {
      const line = this.#line;
      const isQuoted = this.#text[this.#at] === '"';
      const cells = this.#cells();
      // A cell that is quoted and empty is a value; an empty line is not a row.
      if (cells.length > 1 || cells[0] !== '' || isQuoted) return { line, cells };
    }
    return undefined;
  }

  #cells(): string[] {
    const cells: string[] = [];
    for (;;) {
      cells.push(this.#text[this.#at] === '"' ? this.#quoted() : this.#plain());
      const next = this.#text[this.#at];
      if (next === this.#format.separator) this.#at += 1;
      else {
        this.#endLine();
        return cells;
      }
    }
  }

  #endLine(): void {
    if (this.#text[this.#at] === '\r') this.#at += 1;
    if (this.#text[this.#at] === '\n') this.#at += 1;
    this.#line += 1;
  }

  #plain(): string {
    this.#end.lastIndex = this.#at;
    const end = this.#end.exec(this.#text)?.index ?? this.#text.length;
    if (this.#text[end] === '\0') throw this.#error(end, 'a NUL', 'text');
    const cell = this.#text.slice(this.#at, end);
    this.#at = end;
    return cell;
  }

  #quoted(): string {
    const start = this.#at;
    const line = this.#line;
    let cell = '';
    let from = start + 1;
    for (;;) {
      const quote = this.#text.indexOf('"', from);
      if (quote === -1) throw this.#error(start, 'a quoted cell without its end', 'a closing "', line);
      cell += this.#text.slice(from, quote);
      if (this.#text[quote + 1] !== '"') {
        this.#at = quote + 1;
        break;
      }
      cell += '"';
      from = quote + 2;
    }
    const lines = cell.split(/\r\n|\n|\r/).length - 1;
    this.#line += lines;
    if (cell.includes('\0')) throw this.#error(start, 'a NUL', 'text', line);
    const next = this.#text[this.#at];
    if (next !== undefined && next !== this.#format.separator && next !== '\r' && next !== '\n') {
      const found = showFound(this.#text.slice(this.#at, this.#at + 20).split(/[\r\n]/)[0] ?? '');
      throw this.#error(
        this.#at,
        `${found} behind a quoted cell`,
        `${JSON.stringify(this.#format.separator)} or a line end`,
      );
    }
    return cell;
  }

  #error(at: number, found: string, expected: string, line = this.#line): FormatError {
    const before = this.#text.slice(0, at);
    const column = at - Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r'));
    return new FormatError({
      code: 'MUT_BAD_REQUEST',
      subject: this.#format.subject,
      line,
      column,
      found,
      expected,
    });
  }
}
