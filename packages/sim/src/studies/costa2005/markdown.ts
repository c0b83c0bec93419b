import type { Estimate } from './statistics.ts';

/** A section of a page. */
export function section(title: string, ...paragraphs: readonly string[]): string {
  return `\n## ${title}\n\n${paragraphs.filter((paragraph) => paragraph !== '').join('\n\n')}\n`;
}

/** A table; each row has a cell for each title. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n');
}

/** An estimate and its interval: `2.05 +- 0.31`. */
export function show({ value, halfInterval }: Estimate): string {
  if (!Number.isFinite(value)) return '-';
  return Number.isFinite(halfInterval) ? `${value.toFixed(2)} +- ${halfInterval.toFixed(2)}` : value.toFixed(2);
}

/** A fraction as `72.0 %`. */
export function percent(fraction: number): string {
  return `${(100 * fraction).toFixed(1)} %`;
}

/** A whole number with its thousands apart: `54,034`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
