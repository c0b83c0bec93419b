import { findPlacementStrategy, placementStrategies } from './strategies/index.ts';
import type { PlacementStrategy } from './strategy.ts';

/** How tasks are placed, as a user says it. */
export interface PlacementChoice {
  readonly strategy: PlacementStrategy;
  readonly admissibility: number | 'adaptive';
}

/** Reads `STRATEGY[:A]`: a strategy and a number in 0..1, or `adaptive`; 1 when left out. A text in its place says what is wrong. */
export function readPlacementChoice(text: string): PlacementChoice | string {
  const [name = '', admissibility = '1', ...rest] = text.split(':');
  const strategy = findPlacementStrategy(name);
  if (strategy === undefined || rest.length > 0) {
    return `"${text}" begins with no strategy; want one of ${placementStrategies.map((each) => each.name).join(', ')}, then ":" and a number in 0..1 or "adaptive"`;
  }
  if (admissibility === 'adaptive') return { strategy, admissibility };
  const value = /^\d+(\.\d+)?$/.test(admissibility) ? Number(admissibility) : NaN;
  if (value >= 0 && value <= 1) return { strategy, admissibility: value };
  return `"${text}" has the admissibility "${admissibility}"; want a number in 0..1, or "adaptive"`;
}
