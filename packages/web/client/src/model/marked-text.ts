/** A place of a text that something is said of; both counted from 1, line 0 for the whole. */
export interface TextMark {
  readonly severity: 'error' | 'warning';
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** The word that was perhaps meant. */
  readonly nearest?: string | null;
}

/** A piece of a text, and what is said of it. */
export interface TextPiece {
  readonly text: string;
  readonly mark: TextMark | undefined;
}

/**
 * Cuts a text into pieces: each mark gets the word that begins at its place, or the letter, or the end of its line. The
 * pieces put together are the text.
 */
export function markText(text: string, marks: readonly TextMark[]): TextPiece[] {
  const pieces: TextPiece[] = [];
  let done = 0;
  for (const { mark, start, end } of marks
    .flatMap((mark) => getRange(text, mark))
    .sort((one, other) => one.start - other.start)) {
    if (start < done) continue;
    if (start > done) pieces.push({ text: text.slice(done, start), mark: undefined });
    pieces.push({ text: text.slice(start, end), mark });
    done = end;
  }
  if (done < text.length) pieces.push({ text: text.slice(done), mark: undefined });
  return pieces;
}

function getRange(
  text: string,
  mark: TextMark,
): { readonly mark: TextMark; readonly start: number; readonly end: number }[] {
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

/** The line of a place in a text, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** What is said of a place, in a sentence. */
export function sayMark({ message, nearest = null }: TextMark): string {
  return nearest === null ? message : `${message}; did you mean ${nearest}?`;
}

/**
 * The mark that comes next behind a place of the text, or before it; round the end to the first. Undefined where there
 * is none.
 */
export function markBeside(
  text: string,
  marks: readonly TextMark[],
  { at, isForward }: { readonly at: number; readonly isForward: boolean },
): TextMark | undefined {
  const places = marks
    .flatMap((mark) => {
      const start = lineStart(text, mark.line);
      return start === undefined ? [] : [{ mark, place: start + mark.column - 1 }];
    })
    .sort((one, other) => one.place - other.place);
  const next = isForward ? places.find(({ place }) => place > at) : places.findLast(({ place }) => place < at);
  return (next ?? (isForward ? places[0] : places.at(-1)))?.mark;
}
