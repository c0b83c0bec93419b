import type { GetReason } from '../reasons/index.ts';
import type { AssignedResource } from './site-selection.ts';

/** Values that a reason names at most, the least. */
const comparedMax = 10;
/** Larger resources that it names at most. */
const skippedMax = 5;

/** Why a task goes where it does, and to no larger resource. @param names of the resources, in the order of size. */
export function explainChoice(decision: AssignedResource, names: readonly string[]): GetReason<'site-chosen'> {
  const { admissible, admissibility, strategy, values, lacking } = decision;
  const nameAt = (at: number): string => names[at] ?? String(at);
  const least = values
    .map((value, at) => ({ value, at }))
    .sort((one, other) => one.value - other.value || one.at - other.at)
    .slice(0, comparedMax)
    .map(({ at }) => at)
    .sort((one, other) => one - other);
  const wider = names.slice(admissible.last + 1);
  return {
    code: 'site-chosen',
    strategy,
    admissibility: roundAdmissibility(admissibility),
    comparedSites: least.map(
      (at) => `${nameAt(admissible.first + at)}=${Number((values[at] as number).toPrecision(6))}`,
    ),
    furtherSites: values.length - least.length,
    unknownSites: lacking.filter(({ why }) => why === 'unknown').map(({ index }) => nameAt(index)),
    staleSites: lacking.filter(({ why }) => why === 'stale').map(({ index }) => nameAt(index)),
    skippedSites: wider.slice(0, skippedMax),
    furtherSkippedSites: Math.max(0, wider.length - skippedMax),
    moved: 'no',
  };
}

/** An a that follows the load is a fraction of processors, with more digits than are useful. */
export function roundAdmissibility(admissibility: number): number {
  return Number(admissibility.toPrecision(4));
}
