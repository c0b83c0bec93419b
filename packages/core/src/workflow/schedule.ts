import type { Duration, Instant } from '../shared/index.ts';

/** Why a task begins when it does and where it does. */
export interface PlacementReason {
  /** What chose the processors. */
  readonly rule: PlacementRule;
  /** What kept it from beginning earlier there. */
  readonly heldBy: 'arrival' | 'processor' | 'data';
  /**
   * The task whose data or whose end was waited for, by index; undefined after an arrival, or where the processor
   * itself came late.
   */
  readonly behind: number | undefined;
  /** The best other processor and when the task would have ended there; undefined if there was none. */
  readonly runnerUp: { readonly processor: number; readonly end: Instant } | undefined;
}

/**
 * How processors are chosen: `earliest-finish` and `inserted` (between two tasks placed before) by HEFT and CPOP,
 * `critical-path` by CPOP, `capacity` and `exchanged` by HPTS, `first-free` by HLFET, `fixed` before the schedule.
 */
export type PlacementRule =
  | 'earliest-finish'
  | 'inserted'
  | 'critical-path'
  | 'capacity'
  | 'exchanged'
  | 'first-free'
  | 'fixed';

/** Where and when a task runs. */
export interface Placement {
  /** Index of the task. */
  readonly task: number;
  /** One or more, ascending, each once. */
  readonly processors: readonly number[];
  readonly start: Instant;
  readonly end: Instant;
  readonly reason: PlacementReason;
}

/** Where and when each task of a workflow runs. */
export interface Schedule {
  /** Name of the scheduler that made it. */
  readonly scheduler: string;
  /** By index of the task. */
  readonly placements: readonly Placement[];
}

/** The time from the first start to the last end. @source moreira2009, 2.1: makespan = max FT(i) - min ST(j). */
export function getMakespan({ placements }: Schedule): Duration {
  let [first, last] = [Infinity, -Infinity];
  for (const { start, end } of placements) {
    first = Math.min(first, start);
    last = Math.max(last, end);
  }
  return last - first;
}

/** The last end of all. */
export function getLastEnd({ placements }: Schedule): Instant {
  return placements.reduce((last, { end }) => Math.max(last, end), -Infinity);
}
