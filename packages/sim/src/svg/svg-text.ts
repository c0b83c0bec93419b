/** The position and style of a text. */
export interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly size?: number;
  readonly isBold?: boolean;
}

/** A text of a figure, escaped. */
export function text(content: string, { x, y, anchor, size, isBold = false }: TextPlace): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const look = `${size === undefined ? '' : ` font-size="${size}"`}${isBold ? ' font-weight="bold"' : ''}`;
  return `<text x="${tenths(x)}" y="${tenths(y)}" text-anchor="${anchor}"${look}>${escaped}</text>`;
}

/** A length to the tenth of a pixel, which is fine enough. */
export function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/**
 * A round distance of the marks of an axis from 0 to `most`, of which there are four to ten. @param most more than 0.
 */
export function roundStep(most: number): number {
  for (let power = 1e-9; ; power *= 10) {
    const step = [1, 2, 5].find((factor) => most / (factor * power) <= 10);
    if (step !== undefined) return Number((step * power).toPrecision(3));
  }
}
