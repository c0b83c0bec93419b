import { findNearestWord } from '../shared/index.ts';
import { findPlacementStrategy, placementStrategies } from './strategies/index.ts';
import type { PlacementStrategy } from './strategy.ts';

/** How tasks are placed, as a user says it. */
export interface PlacementChoice {
  readonly strategy: PlacementStrategy;
  readonly admissibility: number | 'adaptive';
}

/** Reads what a job or a grid says of placement: as `readPlacementChoice`, or `none` for none. */
export function readPlacement(text: string): PlacementChoice | 'none' | { readonly fault: string } {
  if (text === 'none') return text;
  const choice = readPlacementChoice(text);
  return typeof choice === 'string' ? { fault: choice } : choice;
}

/**
 * Reads `STRATEGY[:A]`: a strategy and a number in 0..1, or `adaptive`; 1 when left out. A text in its place says what
 * is wrong.
 */
export function readPlacementChoice(text: string): PlacementChoice | string {
  const [name = '', admissibility = '1', ...rest] = text.split(':');
  const strategy = findPlacementStrategy(name);
  if (strategy === undefined || rest.length > 0) return describeUnknown(text, rest.length > 0 ? '' : name);
  if (admissibility === 'adaptive') return { strategy, admissibility };
  const value = /^\d+(\.\d+)?$/.test(admissibility) ? Number(admissibility) : NaN;
  if (value >= 0 && value <= 1) return { strategy, admissibility: value };
  return `"${text}" has the admissibility "${admissibility}"; expected a number in 0..1, or "adaptive"`;
}

function describeUnknown(text: string, name: string): string {
  const names = placementStrategies.map((each) => each.name);
  const nearest = findNearestWord(name, names);
  if (nearest !== undefined) return `"${text}" begins with no strategy; do you mean ${nearest}?`;
  return (
    `"${text}" begins with no strategy; expected one of ${names.join(', ')}, then ":" and a number in 0..1 or ` +
    '"adaptive"'
  );
}
