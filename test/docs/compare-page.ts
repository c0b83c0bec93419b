import { readFileSync, writeFileSync } from 'node:fs';

import { fillPart } from '../../scripts/fill-part.ts';

/** The page below docs as it is, and as it should be; with BLESS=1 it is written first. */
export function comparePage(
  name: string,
  parts: Readonly<Record<string, string>>,
): { readonly found: string; readonly expected: string } {
  const file = new URL(`../../docs/${name}`, import.meta.url);
  const former = readFileSync(file, 'utf8');
  const expected = Object.entries(parts).reduce((page, [part, text]) => fillPart(page, part, text), former);
  if (process.env['BLESS'] === '1') writeFileSync(file, expected);
  return { found: readFileSync(file, 'utf8'), expected };
}

/** A table in Markdown. */
export function getTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |\n`;
  return `${line(head)}|${'---|'.repeat(head.length)}\n${rows.map(line).join('')}`;
}
