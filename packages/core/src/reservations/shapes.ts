import type { Duration, Instant } from '../shared/index.ts';
import { instantMax, refuse, type Elastic, type Extent, type Limits, type Malleable, type Refusal } from './request.ts';
import { getOffered, type ReservableResource } from './resource.ts';

/** An amount for a duration. */
export interface Shape {
  readonly amount: number;
  readonly duration: Duration;
}

/** Amounts that are tried of an elastic or malleable request at most: all of few, else evenly spread. */
export const shapesMax = 64;

/**
 * The shapes to try, the most wanted first; at least one, each within what the resource allows and the limits leave. Or
 * why there is none.
 */
export function listShapes(resource: ReservableResource, extent: Extent, limits: Limits): readonly Shape[] | Refusal {
  const fault = findExtentFault(resource, extent);
  if (fault !== undefined) return fault;
  const shapes = listAllShapes(extent, Math.min(getOffered(resource), resource.userMax ?? Infinity));
  const shortest = shapes.reduce((least, { duration }) => Math.min(least, duration), Infinity);
  if (!Number.isSafeInteger(shortest) || shortest < 1) return refuse('bad-duration', shortest, 1);
  const { durationMax = Infinity } = resource;
  if (shortest > durationMax) return refuse('too-long', shortest, durationMax);
  const window = Math.min(limits.latestEnd, instantMax) - limits.from;
  if (shortest > window)
    return refuse(limits.latestEnd > instantMax ? 'too-long' : 'window-too-short', shortest, window);
  return shapes.filter(({ duration }) => duration <= durationMax && duration <= window);
}

function findExtentFault(resource: ReservableResource, extent: Extent): Refusal | undefined {
  const [least, most] = extent.kind === 'rigid' ? [extent.amount, extent.amount] : [extent.amountMin, extent.amountMax];
  const offered = getOffered(resource);
  if (!isCount(least)) return refuse('bad-amount', least, offered);
  if (!isCount(most) || most < least) return refuse('bad-amount', most, offered);
  if (extent.kind === 'elastic' && !isCount(extent.referenceAmount))
    return refuse('bad-amount', extent.referenceAmount, offered);
  const duration = getDurationAsked(extent);
  return isCount(duration) ? findAmountFault(resource, least) : refuse('bad-duration', duration, 1);
}

function findAmountFault(resource: ReservableResource, amount: number): Refusal | undefined {
  const offered = getOffered(resource);
  if (amount > resource.capacity) return refuse('above-capacity', amount, offered);
  if (amount > offered) return refuse('above-cap', amount, offered);
  const { userMax = Infinity } = resource;
  return amount > userMax ? refuse('above-user-bound', amount, userMax) : undefined;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

function getDurationAsked(extent: Extent): number {
  switch (extent.kind) {
    case 'rigid':
      return extent.duration;
    case 'elastic':
      return extent.referenceDuration;
    case 'malleable':
      return extent.work;
  }
}

function listAllShapes(extent: Extent, most: number): Shape[] {
  switch (extent.kind) {
    case 'rigid':
      return [extent];
    case 'elastic':
      return elasticShapes(extent, most);
    case 'malleable':
      return spreadAmounts(extent.amountMin, Math.min(most, extent.amountMax))
        .reverse()
        .map((amount) => ({ amount, duration: Math.ceil(extent.work / amount) }));
  }
}

/** The nearest to the reference amount first; of two as near, the larger. */
function elasticShapes({ amountMin, amountMax, referenceAmount, referenceDuration }: Elastic, most: number): Shape[] {
  const amounts = spreadAmounts(amountMin, Math.min(most, amountMax));
  const nearest = Math.min(Math.max(referenceAmount, amountMin), Math.min(most, amountMax));
  if (!amounts.includes(nearest)) amounts.push(nearest);
  const distance = (amount: number): number => Math.abs(amount - referenceAmount);
  amounts.sort((one, other) => distance(one) - distance(other) || other - one);
  return amounts.map((amount) => ({ amount, duration: Math.ceil((referenceAmount * referenceDuration) / amount) }));
}

/** Whole numbers from `least` to `most`, ascending. */
function spreadAmounts(least: number, most: number): number[] {
  const count = Math.min(shapesMax, most - least + 1);
  if (count === 1) return [most];
  return Array.from({ length: count }, (_, index) => least + Math.round(((most - least) * index) / (count - 1)));
}

/** A shape and its place. */
export interface PlacedShape extends Shape {
  readonly start: Instant;
}

/** Answers when a shape can start at the earliest; Infinity when it cannot. */
export type FindStart = (shape: Shape) => Instant;

/** The best place for one of the shapes; undefined when none has a place. @param shapes as `listShapes` orders them. */
export function chooseShape(
  extent: Extent,
  shapes: readonly Shape[],
  from: Instant,
  findStart: FindStart,
): PlacedShape | undefined {
  switch (extent.kind) {
    case 'rigid':
      return placeOf(shapes[0] as Shape, findStart);
    case 'elastic':
      return chooseElastic(extent, shapes, from, findStart);
    case 'malleable':
      return chooseMalleable(extent, shapes, from, findStart);
  }
}

function placeOf(shape: Shape, findStart: FindStart): PlacedShape | undefined {
  const start = findStart(shape);
  return start < Infinity ? { amount: shape.amount, duration: shape.duration, start } : undefined;
}

/**
 * The place that is nearest to the reference: by |amount - reference amount| / reference amount + (start - earliest
 * start) / reference duration,
 * the least; of two as near, the amount nearer to the reference, then the larger one.
 *
 * @source kunrath2008, 2.2 on Roeblitz 2004. Departs from the source: it names no measure.
 */
function chooseElastic(
  { referenceAmount, referenceDuration }: Elastic,
  shapes: readonly Shape[],
  from: Instant,
  findStart: FindStart,
): PlacedShape | undefined {
  let best: PlacedShape | undefined;
  let least = Infinity;
  for (const shape of shapes) {
    const departure = Math.abs(shape.amount - referenceAmount) / referenceAmount;
    if (departure >= least) break;
    const place = placeOf(shape, findStart);
    if (place === undefined) continue;
    const distance = departure + (place.start - from) / referenceDuration;
    if (distance >= least) continue;
    best = place;
    least = distance;
  }
  return best;
}

/**
 * The place where the work is done the earliest; of two that are as early, the narrower. @param shapes the widest
 * first.
 */
function chooseMalleable(
  _: Malleable,
  shapes: readonly Shape[],
  from: Instant,
  findStart: FindStart,
): PlacedShape | undefined {
  let best: PlacedShape | undefined;
  let earliest = Infinity;
  for (const shape of shapes) {
    if (from + shape.duration > earliest) break;
    const place = placeOf(shape, findStart);
    if (place === undefined || place.start + place.duration > earliest) continue;
    best = place;
    earliest = place.start + place.duration;
  }
  return best;
}
