import { siteSelectionMetrics, siteSelectionStrategies } from '@mutirao/core/site-selection';
import { summarize, type Summary } from '../../summarize.ts';
import type { CaseResult, PartResult } from './measure-part.ts';
import { admissibilities, offeredLoads, type SiteSelectionCase, type SiteSelectionPart } from './parts.ts';

/** A part and what it came to. */
export interface MeasuredPart {
  readonly part: SiteSelectionPart;
  readonly result: PartResult;
}

/** The experiments of a comparison: those of one mix at one load under one strategy. */
export interface Selection {
  readonly mix: 'logs' | 'serial';
  readonly load: number;
  /** In the order of `siteSelectionStrategies`. */
  readonly strategy: number;
}

/** Kinds of runs, whatever their a. */
export type Way = Partial<Pick<SiteSelectionCase, 'local' | 'counted'>>;

/** A change for the better, in percent. */
export interface Improvement {
  /** The mean over experiments. */
  readonly percent: number;
  readonly admissibility: number;
  /** Whether its 95 % interval over experiments stays above 0, as if this a had been chosen beforehand. */
  readonly isSure: boolean;
}

/** Results of a study, found by what they are of. */
export class StudyResults {
  readonly parts: readonly MeasuredPart[];
  /** Values of a that were run. */
  readonly admissibilities: readonly number[];
  readonly loads: readonly number[];
  /** By experiment. */
  readonly #bySelection = new Map<string, Map<number, PartResult>>();

  /** @param parts those of whole experiments. */
  constructor(parts: readonly MeasuredPart[]) {
    this.parts = parts;
    for (const { part, result } of parts) {
      const key = getKey(part.mix.id, part.load, part.strategy);
      const found = this.#bySelection.get(key) ?? new Map<number, PartResult>();
      this.#bySelection.set(key, found.set(part.experiment, result));
    }
    const cases = parts[0]?.result.cases ?? [];
    this.admissibilities = admissibilities.filter((value) =>
      cases.some(({ admissibility }) => admissibility === value),
    );
    this.loads = offeredLoads.filter((load) => parts.some(({ part }) => part.load === load && part.mix.id === 'logs'));
  }

  /** Experiments of a mix. */
  countOf(mix: Selection['mix']): number {
    return new Set(this.parts.filter(({ part }) => part.mix.id === mix).map(({ part }) => part.experiment)).size;
  }

  /** One kind of run of each experiment; empty where it was not run. */
  casesOf(selection: Selection, wanted: Partial<SiteSelectionCase>): CaseResult[] {
    return [...this.#byExperiment(selection, wanted).values()];
  }

  /** The mean of a metric over experiments; NaN where it was not run. @param metric from 0. */
  getMean(selection: Selection, wanted: Partial<SiteSelectionCase>, metric: number): number {
    return mean(this.casesOf(selection, wanted).map(({ metrics }) => metrics[metric] as number));
  }

  /**
   * By how many percent one kind of run is better than another, experiment by experiment, on average; NaN where either
   * was not run.
   */
  improvementOf(
    selection: Selection,
    wanted: Partial<SiteSelectionCase>,
    than: Partial<SiteSelectionCase>,
    metric: number,
  ): number {
    return mean(this.#gainsOf(selection, wanted, than, metric));
  }

  /**
   * The mean of what `improvementOf` gives over selections of one mix, and how sure it is; NaN if one of them was not
   * run.
   *
   * The experiments are the samples: in each the selections are averaged first, since strategies and loads that share
   * its tasks are not independent.
   */
  getGain(
    selections: readonly Selection[],
    wanted: Partial<SiteSelectionCase>,
    than: Partial<SiteSelectionCase>,
    metric: number,
  ): Summary {
    const gains = selections.map((selection) => this.#gainsOf(selection, wanted, than, metric));
    const experiments = gains[0]?.map((_, experiment) => mean(gains.map((each) => each[experiment] ?? NaN))) ?? [];
    return experiments.length === 0 ? { count: 0, mean: NaN, halfInterval: Infinity } : summarize(experiments);
  }

  /**
   * The best improvement of a metric over a = 1 at any other a; undefined where there is none. @param way as `casesOf`,
   * but its a.
   */
  bestImprovementOf(selection: Selection, metric: number, way: Way = {}): Improvement | undefined {
    let best: Improvement | undefined;
    for (const admissibility of this.admissibilities.toReversed()) {
      if (admissibility === 1) continue;
      const { mean: percent, halfInterval } = this.getGain(
        [selection],
        { ...way, admissibility },
        { ...way, admissibility: 1 },
        metric,
      );
      // What rounds to nothing is none; of equal ones the one that restricts least.
      if (percent > 0.005 && percent > (best?.percent ?? 0) + 1e-9)
        best = { percent, admissibility, isSure: percent > halfInterval };
    }
    return best;
  }

  /** The a at which a metric is best, the greatest of equal ones. */
  bestAdmissibilityOf(selection: Selection, metric: number): number {
    return this.bestImprovementOf(selection, metric)?.admissibility ?? 1;
  }

  /**
   * The mean over the metrics of each strategy's rank, 1 the best, at a load.
   *
   * @param admissibility of each strategy, by metric.
   */
  meanRanksOf(
    mix: Selection['mix'],
    load: number,
    admissibility: (selection: Selection, metric: number) => SiteSelectionCase['admissibility'],
  ): number[] {
    const ranks = siteSelectionMetrics.map(({ moreIsBetter }, metric) => {
      const values = siteSelectionStrategies.map((_, strategy) => {
        const selection = { mix, load, strategy };
        return (
          (moreIsBetter ? -1 : 1) * this.getMean(selection, { admissibility: admissibility(selection, metric) }, metric)
        );
      });
      return values.map((value) => 1 + values.filter((other) => other < value).length);
    });
    return siteSelectionStrategies.map((_, strategy) => mean(ranks.map((row) => row[strategy] as number)));
  }

  #byExperiment({ mix, load, strategy }: Selection, wanted: Partial<SiteSelectionCase>): Map<number, CaseResult> {
    const { admissibility = 1, local = 'fcfs', counted = 'unfinished' } = wanted;
    const found = new Map<number, CaseResult>();
    for (const [experiment, { cases }] of this.#bySelection.get(
      getKey(mix, load, siteSelectionStrategies[strategy]?.name ?? ''),
    ) ?? []) {
      const run = cases.find(
        (each) => each.admissibility === admissibility && each.local === local && each.counted === counted,
      );
      if (run !== undefined) found.set(experiment, run);
    }
    return found;
  }

  /** The change for the better of each experiment that has both kinds of run, in percent. */
  #gainsOf(
    selection: Selection,
    wanted: Partial<SiteSelectionCase>,
    than: Partial<SiteSelectionCase>,
    metric: number,
  ): number[] {
    const [found, before] = [this.#byExperiment(selection, wanted), this.#byExperiment(selection, than)];
    const sign = siteSelectionMetrics[metric]?.moreIsBetter === true ? 1 : -1;
    return [...found]
      .filter(([experiment]) => before.has(experiment))
      .map(([experiment, { metrics }]) => {
        const [value, base] = [metrics[metric] as number, before.get(experiment)?.metrics[metric] as number];
        return base === 0 ? 0 : (100 * sign * (value - base)) / base;
      });
  }
}

function getKey(mix: string, load: number, strategy: string): string {
  return `${mix} ${load} ${strategy}`;
}

/** The mean; NaN of nothing. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** All runs as CSV, one a line. */
export function siteSelectionRunsCsv(parts: readonly MeasuredPart[]): string {
  const lines = parts.flatMap(({ part, result }) =>
    result.cases.map(({ admissibility, local, counted, meanAdmissibility, theoremRatio, metrics }) =>
      [
        part.mix.id,
        part.experiment,
        part.load,
        part.strategy,
        admissibility,
        local,
        counted,
        meanAdmissibility.toFixed(4),
        theoremRatio.toFixed(4),
        ...metrics,
      ].join(','),
    ),
  );
  return `${[`mix,experiment,load,strategy,a,local,counted,mean_a,theorem_ratio,${siteSelectionMetrics.map(({ id }) => id).join(',')}`, ...lines].join('\n')}\n`;
}
