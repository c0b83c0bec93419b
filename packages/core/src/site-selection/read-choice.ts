import type { Fault } from '../reasons/index.ts';
import { findNearestWord } from '../shared/index.ts';
import { findSiteSelectionStrategy, siteSelectionStrategies } from './strategies/index.ts';
import type { SiteSelectionStrategy } from './strategy.ts';

/** How tasks are placed, as a user says it. */
export interface SiteSelectionChoice {
  readonly strategy: SiteSelectionStrategy;
  readonly admissibility: number | 'adaptive';
}

/** Reads what a job or a grid says of site selection: as `readSiteSelectionChoice`, or `none` for none. */
export function readSiteSelection(text: string): SiteSelectionChoice | 'none' | { readonly fault: Fault } {
  if (text === 'none') return text;
  return readSiteSelectionChoice(text);
}

/**
 * Reads `STRATEGY[:A]`: a strategy and a number in 0..1, or `adaptive`; 1 when left out.
 */
export function readSiteSelectionChoice(text: string): SiteSelectionChoice | { readonly fault: Fault } {
  const [name = '', admissibility = '1', ...rest] = text.split(':');
  const strategy = findSiteSelectionStrategy(name);
  if (strategy === undefined || rest.length > 0) return { fault: getUnknown(text, rest.length > 0 ? '' : name) };
  if (admissibility === 'adaptive') return { strategy, admissibility };
  const value = /^\d+(\.\d+)?$/.test(admissibility) ? Number(admissibility) : NaN;
  if (value >= 0 && value <= 1) return { strategy, admissibility: value };
  return { fault: { code: 'site-selection-admissibility-invalid', text, admissibility } };
}

function getUnknown(text: string, name: string): Fault {
  const names = siteSelectionStrategies.map((each) => each.name);
  const nearest = findNearestWord(name, names);
  return { code: 'site-selection-strategy-unknown', text, ...(nearest === undefined ? {} : { nearest }), names };
}
