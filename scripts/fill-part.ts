/**
 * The page with `text` in place of what is between its two marks, `<!-- begin NAME: ... -->` and `<!-- end NAME -->`.
 *
 * @throws {Error} when the page lacks the marks
 */
export function fillPart(page: string, name: string, text: string): string {
  const marks = new RegExp(`(<!-- begin ${name}: [^]*?-->\n)[^]*?(<!-- end ${name} -->)`);
  if (!marks.test(page)) throw new Error(`the page has no marks for "${name}"`);
  return page.replace(marks, (_, begins: string, ends: string) => `${begins}\n${text}\n${ends}`);
}
