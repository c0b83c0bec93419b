import { AdaptiveAdmissibility, AdmissibleSets } from '../../../site-selection/index.ts';
import { type Instant, Prng, type ProcessorCount } from '../../../shared/index.ts';
import type { SiteSelectionOptions } from '../options.ts';
import { getSiteSelection, type JobSiteSelection } from './read-site-selection.ts';

/**
 * The state of site selection. Nothing of it is promised: a restarted broker learns again which admissibility suits.
 */
export interface Choosing {
  /** Of jobs that say nothing of it. */
  readonly byDefault: JobSiteSelection;
  /** For what strategies leave to chance. */
  readonly prng: Prng;
  /** What follows the load; undefined before anything was placed. */
  adaptive: AdaptiveAdmissibility | undefined;
  /** When late tasks in a part of a queue are checked again, by the queue. */
  looks: WeakMap<object, Instant>;
  /** Whole queues that no resource was wide enough for at the last check. */
  readonly tooWide: WeakSet<object>;
}

/** Nothing is learnt yet. */
export function createChoosing({ choice }: SiteSelectionOptions): Choosing {
  return {
    byDefault: choice === '' ? 'none' : getSiteSelection(choice),
    prng: new Prng('placement'),
    adaptive: undefined,
    looks: new WeakMap(),
    tooWide: new WeakSet(),
  };
}

/**
 * The admissibility that follows the load, for resources of these sizes; what was learnt stays where sizes change.
 * @param sizes ascending.
 */
export function adaptiveFor(choosing: Choosing, sizes: readonly ProcessorCount[]): AdaptiveAdmissibility {
  const { adaptive } = choosing;
  if (
    adaptive !== undefined &&
    adaptive.sizes.length === sizes.length &&
    adaptive.sizes.every((size, index) => size === sizes[index])
  )
    return adaptive;
  const sets = new AdmissibleSets(sizes);
  choosing.adaptive = adaptive === undefined ? new AdaptiveAdmissibility(sets) : adaptive.over(sets);
  return choosing.adaptive;
}
