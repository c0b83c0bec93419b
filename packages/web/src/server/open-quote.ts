/** What a shell takes as a whole: an escaped character, closed quotes, a comment up to the end of its line. */
const closed = /\\[^]|'[^']*'|"(?:\\[^]|[^"\\])*"|`(?:\\[^]|[^`\\])*`|(?:^|\s)#[^\n]*/g;

/**
 * The quote that a line for a shell opens and does not close; undefined where all are closed. Lines with a
 * here-document, whose text may hold single ones, are not looked at.
 */
export function findOpenQuote(line: string): string | undefined {
  return line.includes('<<') ? undefined : /['"`]/.exec(line.replace(closed, ' '))?.[0];
}
