/** What the heuristic goes by that no theory gives; fitted on the first two thirds of each trace's time. */
export interface FinishConstants {
  /** Task times that are thought possible before anything is known: from the first on, each so many times the one before, all equally likely. */
  readonly priorShortest: number;
  readonly priorStep: number;
  /** What share of a promised wait a request is expected to wait, as long as none was seen. */
  readonly waitShare: number;
  /** How many observed waits that expectation counts for. */
  readonly waitShareWeight: number;
  /** Further requests of a plan that can finish the job have to shorten it by this share. */
  readonly fillGain: number;
  /** What a plan has to be shorter by that gives up a request that waits. */
  readonly withdrawGain: number;
  /** The same for one that runs. */
  readonly releaseGain: number;
  /** How much of the best rate that the queue offers now is expected of a slot after its request has ended. */
  readonly futureShare: number;
  /** The share of a request that tasks have to use that end in it, where they differ and the job goes on after it. */
  readonly efficiencyMin: number;
  /** Beyond what a request needs, as a share of that: its walltime. */
  readonly walltimeMargin: number;
}

/** Those that are used. */
export const finishConstants: FinishConstants = {
  priorShortest: 10_000, priorStep: 3, waitShare: 0.6, waitShareWeight: 4, fillGain: 0.03, withdrawGain: 0.1, releaseGain: 0.25, futureShare: 1, efficiencyMin: 0.75, walltimeMargin: 0.2,
};
