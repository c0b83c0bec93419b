/** Writes a text so that a POSIX shell reads it as one word; unchanged if it needs no quotes. */
export function quoteForShell(text: string): string {
  if (/^[A-Za-z0-9@%+=:,./_-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
