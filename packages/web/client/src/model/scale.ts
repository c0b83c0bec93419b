/** A straight line from numbers to places. */
export interface Scale {
  readonly from: number;
  readonly until: number;
  readonly start: number;
  readonly end: number;
}

/** The place of a number; where the range is empty, the start. */
export function placeOf({ from, until, start, end }: Scale, value: number): number {
  return until === from ? start : start + ((value - from) / (until - from)) * (end - start);
}

/** The number at a place. */
export function valueAt({ from, until, start, end }: Scale, place: number): number {
  return end === start ? from : from + ((place - start) / (end - start)) * (until - from);
}

/** Round numbers within a range, about `about` of them. */
export function listTicks(from: number, until: number, about: number): number[] {
  if (!(until > from)) return [from];
  const rough = (until - from) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  return listMultiples(step, from, until);
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const timeSteps = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  second,
  2 * second,
  5 * second,
  10 * second,
  15 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  3 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  7 * day,
  14 * day,
  28 * day,
];

/**
 * Instants or times within a range at steps of clocks and calendars, about `about` of them; `shift` is the zone's
 * distance from UTC.
 */
export function listTimeTicks(
  from: number,
  until: number,
  { about, shift = 0 }: { readonly about: number; readonly shift?: number },
): { readonly ticks: readonly number[]; readonly step: number } {
  const rough = (until - from) / Math.max(1, about);
  const step = timeSteps.find((size) => size >= rough) ?? Math.ceil(rough / (28 * day)) * 28 * day;
  return { ticks: listMultiples(step, from + shift, until + shift).map((tick) => tick - shift), step };
}

function listMultiples(step: number, from: number, until: number): number[] {
  const ticks: number[] = [];
  for (
    let index = Math.ceil(from / step - 1e-9);
    index * step <= until + step * 1e-9 && ticks.length < 1000;
    index += 1
  )
    ticks.push(Number((index * step).toPrecision(15)));
  return ticks;
}

/** The range after zooming by a factor around a value, kept within limits. */
export function zoomRange(
  range: { readonly from: number; readonly until: number },
  factor: number,
  {
    around,
    least,
    limits,
  }: {
    readonly around: number;
    readonly least: number;
    readonly limits: { readonly from: number; readonly until: number };
  },
): { readonly from: number; readonly until: number } {
  const length = Math.min(limits.until - limits.from, Math.max(least, (range.until - range.from) * factor));
  const share = (around - range.from) / Math.max(1e-9, range.until - range.from);
  return keepWithin({ from: around - share * length, until: around + (1 - share) * length }, limits);
}

/** The range moved into the limits, which must be at least as long. */
export function keepWithin(
  { from, until }: { readonly from: number; readonly until: number },
  limits: { readonly from: number; readonly until: number },
): { readonly from: number; readonly until: number } {
  const shift = from < limits.from ? limits.from - from : until > limits.until ? limits.until - until : 0;
  return { from: from + shift, until: until + shift };
}
