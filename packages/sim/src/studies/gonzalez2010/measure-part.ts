import { AdmissibleSets, findSiteSelectionStrategy, measurePlacement } from '@mutirao/core/site-selection';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  type QueuePolicy,
  type TracedRequest,
} from '@mutirao/core/queue';
import { invariant } from '@mutirao/core/shared';
import { runSiteSelection, type SiteSelectionRun } from '../../site-selection/run-site-selection.ts';
import { listCases, type LocalPolicy, type SiteSelectionCase, type SiteSelectionPart } from './parts.ts';
import { allProcessors, clusterSizes, sampleExperiment, scaleToLoad, sumWork } from './workload.ts';

/** What one run came to. */
export interface CaseResult extends SiteSelectionCase {
  /** m1 to m14. */
  readonly metrics: readonly number[];
  /** The mean of a over the decisions. */
  readonly meanAdmissibility: number;
  /** m(f(d), m) / m(f(b), m) of Theorem 1: up to it a is bounded by 1 + 4/a^2, above it by 1 + 4/(a(1 - a)). */
  readonly theoremRatio: number;
}

/** What an experiment is made of. */
export interface WorkloadFacts {
  readonly taskCount: number;
  /** From the first submission to the last, in ms. */
  readonly span: number;
  /** Processors times requested time over work. */
  readonly overestimate: number;
  /** Tasks of at most 4, 8, 16 and 32 processors that are wider than the class before, as shares of all. */
  readonly taskShares: readonly number[];
  /** The same of work. */
  readonly workShares: readonly number[];
}

/** The results of a part. */
export interface PartResult {
  readonly seed: string;
  readonly facts: WorkloadFacts;
  readonly cases: readonly CaseResult[];
}

const policies: { readonly [name in LocalPolicy]: QueuePolicy } = {
  fcfs: firstComeFirstServed,
  easy: easyBackfilling,
  conservative: conservativeBackfilling('start-now'),
};

/**
 * Runs a part. What is left to chance depends on the seed, the experiment and the load, so that every a meets the same.
 *
 * @param logs those of the part's mix, in its order: requests with a requested time that fit the widest cluster.
 */
export function measurePart(
  part: SiteSelectionPart,
  logs: readonly (readonly TracedRequest[])[],
  seed: string,
): PartResult {
  const stream = scaleToLoad(sampleExperiment(logs, part.experiment), part.load);
  const sets = new AdmissibleSets(clusterSizes);
  const known = new Map<string, CaseResult>();
  const cases = listCases(part).map((each) => {
    const key = `${admissibleKey(sets, each.admissibility)} ${each.local} ${each.counted}`;
    // Where all admissible sets are the same, so is the run.
    const found = known.get(key);
    const result =
      found === undefined
        ? runCase(part, each, stream, seed)
        : { ...found, ...each, meanAdmissibility: each.admissibility as number };
    known.set(key, result);
    return result;
  });
  return { seed, facts: listFacts(stream), cases };
}

function admissibleKey(sets: AdmissibleSets, admissibility: number | 'adaptive'): string {
  if (admissibility === 'adaptive') return admissibility;
  return [...new Set(clusterSizes)].map((size) => sets.getRange(size, admissibility)?.last).join(',');
}

function runCase(
  { strategy: name, mix, experiment, load }: SiteSelectionPart,
  each: SiteSelectionCase,
  stream: readonly TracedRequest[],
  seed: string,
): CaseResult {
  const strategy = findSiteSelectionStrategy(name);
  invariant(strategy !== undefined, `there is no strategy ${name}`);
  const run = runSiteSelection(
    {
      sizes: clusterSizes,
      policy: policies[each.local],
      strategy,
      admissibility: each.admissibility,
      counted: each.counted,
      seed: `${seed}/${mix.id}/${experiment}/${load}`,
    },
    stream,
  );
  return {
    ...each,
    metrics: measurePlacement(run.finished, allProcessors),
    meanAdmissibility: run.meanAdmissibility,
    theoremRatio: getTheoremRatio(run),
  };
}

/**
 * d is the last task to be assigned to the cluster that ends last, b the narrowest that ran on a cluster which is wide
 * enough for d.
 */
export function getTheoremRatio({ finished, clusters }: SiteSelectionRun): number {
  const sets = new AdmissibleSets(clusterSizes);
  let last = 0;
  finished.forEach(({ endedAt }, id) => {
    if (endedAt > (finished[last]?.endedAt ?? 0)) last = id;
  });
  const firstOfD = sets.firstOf(finished[clusters.lastIndexOf(clusters[last] as number)]?.width ?? 1) ?? 0;
  const narrowest = finished.reduce(
    (least, { width }, id) => ((clusters[id] as number) >= firstOfD ? Math.min(least, width) : least),
    Infinity,
  );
  const end = clusterSizes.length - 1;
  return sets.sum(firstOfD, end) / sets.sum(sets.firstOf(narrowest) ?? 0, end);
}

function listFacts(stream: readonly TracedRequest[]): WorkloadFacts {
  const classes = [4, 8, 16, 32];
  const inClass = (index: number): TracedRequest[] =>
    stream.filter(({ width }) => width <= (classes[index] as number) && width > (classes[index - 1] ?? 0));
  const work = sumWork(stream);
  return {
    taskCount: stream.length,
    span: stream.at(-1)?.submittedAt ?? 0,
    overestimate: stream.reduce((sum, { width, walltime }) => sum + width * walltime, 0) / work,
    taskShares: classes.map((_, index) => inClass(index).length / stream.length),
    workShares: classes.map((_, index) => sumWork(inClass(index)) / work),
  };
}
