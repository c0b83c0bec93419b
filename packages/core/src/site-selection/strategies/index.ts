import type { SiteSelectionStrategy } from '../strategy.ts';
import { minCt } from './min-ct.ts';
import { minLb } from './min-lb.ts';
import { minLbal } from './min-lbal.ts';
import { minLp } from './min-lp.ts';
import { minPl } from './min-pl.ts';
import { minSt } from './min-st.ts';
import { minSwct } from './min-swct.ts';
import { minTa } from './min-ta.ts';
import { minU } from './min-u.ts';
import { minWt } from './min-wt.ts';
import { minWta } from './min-wta.ts';
import { minWwota } from './min-wwota.ts';
import { minWwt } from './min-wwt.ts';
import { random } from './random.ts';

/** All strategies, in the order of the seed. @source gonzalez2010, section 4. */
export const siteSelectionStrategies: readonly SiteSelectionStrategy[] = [
  random,
  minLp,
  minPl,
  minLbal,
  minLb,
  minCt,
  minSwct,
  minWt,
  minWwt,
  minU,
  minSt,
  minTa,
  minWta,
  minWwota,
];

/** The strategy for each level of knowledge: of each level the one that is nearest to the finishing of work. */
export const strategyOfLevel: readonly [
  SiteSelectionStrategy,
  SiteSelectionStrategy,
  SiteSelectionStrategy,
  SiteSelectionStrategy,
] = [random, minLp, minPl, minLb];

/** Finds a strategy by its name. */
export function findSiteSelectionStrategy(name: string): SiteSelectionStrategy | undefined {
  return siteSelectionStrategies.find((strategy) => strategy.name === name);
}
