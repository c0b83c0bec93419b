import type { Fault } from '../reasons/index.ts';
import { findNearestWord } from '../shared/index.ts';
import { findPlacementStrategy, placementStrategies } from './strategies/index.ts';
import type { PlacementStrategy } from './strategy.ts';

/** How tasks are placed, as a user says it. */
export interface PlacementChoice {
  readonly strategy: PlacementStrategy;
  readonly admissibility: number | 'adaptive';
}

/** Reads what a job or a grid says of placement: as `readPlacementChoice`, or `none` for none. */
export function readPlacement(text: string): PlacementChoice | 'none' | { readonly fault: Fault } {
  if (text === 'none') return text;
  return readPlacementChoice(text);
}

/**
 * Reads `STRATEGY[:A]`: a strategy and a number in 0..1, or `adaptive`; 1 when left out.
 */
export function readPlacementChoice(text: string): PlacementChoice | { readonly fault: Fault } {
  const [name = '', admissibility = '1', ...rest] = text.split(':');
  const strategy = findPlacementStrategy(name);
  if (strategy === undefined || rest.length > 0) return { fault: getUnknown(text, rest.length > 0 ? '' : name) };
  if (admissibility === 'adaptive') return { strategy, admissibility };
  const value = /^\d+(\.\d+)?$/.test(admissibility) ? Number(admissibility) : NaN;
  if (value >= 0 && value <= 1) return { strategy, admissibility: value };
  return { fault: { code: 'placement-admissibility-invalid', text, admissibility } };
}

function getUnknown(text: string, name: string): Fault {
  const names = placementStrategies.map((each) => each.name);
  const nearest = findNearestWord(name, names);
  return { code: 'placement-strategy-unknown', text, ...(nearest === undefined ? {} : { nearest }), names };
}
