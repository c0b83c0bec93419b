/** What the heuristic goes by that no theory gives; fitted on the first two thirds of each trace's time. */
export interface FinishConstants {
  /**
   * Task times that are thought possible before anything is known: from the first on, each so many times the one
   * before, all equally likely.
   */
  readonly priorShortest: number;
  readonly priorStep: number;
  /** What share of a promised wait a request is expected to wait, as long as none was seen. */
  readonly waitShare: number;
  /** How many observed waits that expectation counts for. */
  readonly waitShareWeight: number;
  /** A request that has waited for less, in milliseconds, says nothing yet of how promises are kept. */
  readonly waitedMin: number;
  /** Further requests of a plan that can finish the job have to shorten it by this share. */
  readonly fillGain: number;
  /**
   * What a plan has to be shorter by that gives up a request that waits: its age in the queue may be worth more than
   * promises tell.
   */
  readonly withdrawGain: number;
  /** The same for one that runs. */
  readonly releaseGain: number;
  /** A request that waits for so many times more processors than tasks are left for is given up for a narrower one, */
  readonly widthSpare: number;
  /** unless the job ends earlier with it by more than this share. */
  readonly spareLoss: number;
  /** How much of the best rate that the queue offers now is expected of a slot after its request has ended. */
  readonly futureShare: number;
  /**
   * Tasks count as alike that end within this share of the shortest time after the first; one that has run for longer
   * has outlasted it.
   */
  readonly likeShare: number;
  /** By how much the mean of what is left, and so the longest, may be more than was learnt, where tasks differ, */
  readonly timeDoubt: number;
  /** and how likely that is thought to be. */
  readonly timeDoubtWeight: number;
  /**
   * How much of a request has to be used by tasks that end in it, beside what of the longest would be, where tasks
   * differ and the job goes on after it.
   */
  readonly efficiencyMin: number;
  /** What a request may waste, as a share of the job's work, counts as so many times that share of the job's time. */
  readonly wasteCost: number;
  /** Beyond what a request needs, as a share of that: its walltime. */
  readonly walltimeMargin: number;
}

/** Those that are used. */
export const finishConstants: FinishConstants = {
  priorShortest: 10_000,
  priorStep: 3,
  waitShare: 0.6,
  waitShareWeight: 2,
  waitedMin: 12 * 60_000,
  fillGain: 0.03,
  withdrawGain: 0.3,
  releaseGain: 0.4,
  widthSpare: 1.25,
  spareLoss: 0.15,
  futureShare: 1,
  likeShare: 0.02,
  timeDoubt: 0.1,
  timeDoubtWeight: 0.4,
  efficiencyMin: 0.9,
  wasteCost: 1,
  walltimeMargin: 0.2,
};
