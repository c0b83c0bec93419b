import { parseWhole, valueError, type ValueContext } from './number.ts';

/** The numbers first, first + step, ... (count of them, 1 or more; step 1 or more). */
export interface NumberRange {
  readonly first: number;
  readonly count: number;
  readonly step: number;
}

/** Which of several numbered things are meant. */
export type Selector =
  | { readonly kind: 'all' }
  | { readonly kind: 'last' }
  /** In the order in which they were written; they may overlap. Not empty. */
  | { readonly kind: 'ranges'; readonly ranges: readonly NumberRange[] };

/**
 * Reads a selector: `5`, `1-10`, `1-10:2`, `1,3,5-8`, `last`, `all`; numbers may have underscores.
 *
 * @throws {FormatError} MUT_BAD_SELECTOR.
 */
export function parseSelector(text: string): Selector {
  const word = text.toLowerCase();
  if (word === 'all' || word === 'last') return { kind: word };
  return { kind: 'ranges', ranges: parseRanges({ code: 'MUT_BAD_SELECTOR', kind: 'selector', text }) };
}

/** Reads the ranges of a selector, without its words. @throws {FormatError} with the context's code. */
export function parseRanges(context: ValueContext): NumberRange[] {
  const ranges: NumberRange[] = [];
  let offset = 0;
  for (const part of context.text.split(',')) {
    ranges.push(parseRange(context, offset, part));
    offset += part.length + 1;
  }
  return ranges;
}

/** Writes a selector as `parseSelector` reads it. */
export function printSelector(selector: Selector): string {
  if (selector.kind !== 'ranges') return selector.kind;
  return selector.ranges
    .map(({ first, count, step }) => {
      if (count === 1) return String(first);
      const range = `${first}-${first + (count - 1) * step}`;
      return step === 1 ? range : `${range}:${step}`;
    })
    .join(',');
}

/**
 * The numbers from `window.first` to `window.last` that a selector means, each once, in its order.
 *
 * Cost: what is within the window, however far a range goes.
 */
export function selectNumbers(selector: Selector, window: { readonly first: number; readonly last: number }): number[] {
  if (window.last < window.first) return [];
  if (selector.kind === 'last') return [window.last];
  const whole = { first: window.first, count: window.last - window.first + 1, step: 1 };
  const ranges = selector.kind === 'ranges' ? selector.ranges : [whole];
  const numbers = new Set<number>();
  for (const { first, count, step } of ranges) {
    const skipped = Math.max(0, Math.ceil((window.first - first) / step));
    const end = Math.min(first + (count - 1) * step, window.last);
    for (let number = first + skipped * step; number <= end; number += step) numbers.add(number);
  }
  return [...numbers];
}

function parseRange(context: ValueContext, offset: number, part: string): NumberRange {
  const match = /^([^-:]*)(?:-([^-:]*))?(?::([^-:]*))?$/.exec(part);
  if (match === null) throw valueError(context, offset, 'FIRST-LAST or FIRST-LAST:STEP');
  const [, firstText = '', lastText, stepText] = match;
  const first = parseWhole(context, offset, firstText);
  const lastOffset = offset + firstText.length + 1;
  if (lastText === undefined) {
    if (stepText !== undefined) throw valueError(context, lastOffset - 1, '"-" and the last number before a step');
    return { first, count: 1, step: 1 };
  }
  const last = parseWhole(context, lastOffset, lastText);
  if (last < first) throw valueError(context, lastOffset, `a number from ${first} on`);
  const stepOffset = lastOffset + lastText.length + 1;
  const step = stepText === undefined ? 1 : parseWhole(context, stepOffset, stepText);
  if (step < 1) throw valueError(context, stepOffset, 'a step of 1 or more');
  return { first, count: Math.floor((last - first) / step) + 1, step };
}
