import { escapeMarkup as text } from '../server/drawing/escape-markup.ts';

/** A cell that is sorted by its number, whatever it says. */
export interface NumberCell {
  readonly value: number;
  readonly says: string;
}

/** A number, or the text that stands for it. */
export function numberCell(value: number, says = String(value)): NumberCell {
  return { value, says };
}

/** Facts with their names; those without a value are left out. */
export function listPairs(entries: readonly (readonly [string, string])[]): string[] {
  return [
    '<table class="facts">',
    ...entries
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `<tr><th scope="row">${text(name)}</th><td>${text(value)}</td></tr>`),
    '</table>',
  ];
}

/**
 * A table whose script lets it be sorted and searched. Columns in which every cell is a number are set to the right.
 */
export function getTable(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly (string | NumberCell)[])[],
): string {
  const cell = (one: string | NumberCell): string =>
    typeof one === 'string'
      ? `<td>${text(one)}</td>`
      : `<td class="number" data-value="${one.value}">${text(one.says)}</td>`;
  const isNumber = headings.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'object'));
  return [
    `<div class="scroll"><table class="rows"><caption>${text(caption)}</caption>`,
    `<thead><tr>${headings.map((heading, column) => `<th scope="col"${isNumber[column] === true ? ' class="number"' : ''}>${text(heading)}</th>`).join('')}</tr></thead><tbody>`,
    ...rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`),
    '</tbody></table></div>',
  ].join('\n');
}

/** A picture, over which the script draws a chart that can be zoomed. */
export function getFigure(
  name: string,
  svg: string,
  { label, note = '', canZoom = false }: { readonly label: string; readonly note?: string; readonly canZoom?: boolean },
): string {
  const words =
    note === ''
      ? ''
      : '<figcaption ' +
        `class="faint">${text(note)}${canZoom ? ' <button type="button">Show all</button>' : ''}</figcaption>`;
  return (
    `<figure data-chart="${name}" role="group" aria-label="${text(label)}"><div ` +
    `class="still">${svg}</div>${words}</figure>`
  );
}
