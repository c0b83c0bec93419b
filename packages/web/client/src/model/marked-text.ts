/** A place of a text that something is said of; both counted from 1, line 0 for the whole. */
export interface TextMark {
  readonly severity: 'error' | 'warning';
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A piece of a text, and what is said of it. */
export interface TextPiece {
  readonly text: string;
  readonly mark: TextMark | undefined;
}

/** Cuts a text into pieces: each mark gets the word that begins at its place, or the letter, or the end of its line. The pieces put together are the text. */
export function markText(text: string, marks: readonly TextMark[]): TextPiece[] {
  const pieces: TextPiece[] = [];
  let done = 0;
  for (const { mark, start, end } of marks.flatMap((mark) => rangeOf(text, mark)).sort((one, other) => one.start - other.start)) {
    if (start < done) continue;
    if (start > done) pieces.push({ text: text.slice(done, start), mark: undefined });
    pieces.push({ text: text.slice(start, end), mark });
    done = end;
  }
  if (done < text.length) pieces.push({ text: text.slice(done), mark: undefined });
  return pieces;
}

function rangeOf(text: string, mark: TextMark): { readonly mark: TextMark; readonly start: number; readonly end: number }[] {
  const line = lineStart(text, mark.line);
  if (line === undefined) return [];
  const lineEnd = text.indexOf('\n', line) === -1 ? text.length : text.indexOf('\n', line);
  const start = Math.min(line + Math.max(0, mark.column - 1), Math.max(line, lineEnd - 1));
  const [word = ''] = /^[\w$.-]+/.exec(text.slice(start, lineEnd)) ?? [];
  const end = Math.max(start + word.length, Math.min(start + 1, text.length));
  return end > start ? [{ mark, start, end }] : [];
}

/** Where a line begins in a text; undefined where there is no such line. */
export function lineStart(text: string, line: number): number | undefined {
  if (line < 1) return undefined;
  let start = 0;
  for (let number = 1; number < line; number += 1) {
    const next = text.indexOf('\n', start);
    if (next === -1) return undefined;
    start = next + 1;
  }
  return start;
}
