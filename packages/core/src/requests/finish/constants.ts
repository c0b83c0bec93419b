/** The constants of the heuristic that no theory gives; fitted on the first two thirds of each trace's time. */
export interface FinishConstants {
  /**
   * Task times that are considered possible before any is known, all equally likely: the shortest, and the factor from
   * one to the next.
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
   * By how much a plan must be shorter to give up a waiting request: its age in the queue may be worth more than
   * promises show.
   */
  readonly withdrawGain: number;
  /** The same for one that runs. */
  readonly releaseGain: number;
  /**
   * A request that waits for more than this many times the processors that the remaining tasks need is replaced by a
   * narrower one,
   */
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
   * The share of a request that tasks ending in it must use, relative to that of the longest request, where tasks
   * differ and the job goes on after it.
   */
  readonly efficiencyMin: number;
  /**
   * The expected waste of a request, as a share of the job's work, counts this many times as a share of the job's time.
   */
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
