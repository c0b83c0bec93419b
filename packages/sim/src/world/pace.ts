import type { Duration, Prng } from '@mutirao/core/shared';

/** How long processes take for everything but the tasks; each time is drawn, less than its longest. */
export interface Pace {
  /** From the start of a request to that of its processes. */
  readonly startMax: Duration;
  /** What an agent does in addition to its tasks: staging, collecting, a task's reaction to a signal. */
  readonly choreMax: Duration;
  /** What a broker does in addition to its decisions: reading a file, settling a result. */
  readonly settleMax: Duration;
  /** How long an agent takes to stop when it is ordered to, exactly. */
  readonly stopGrace: Duration;
  /** For how long the end of a task is held back in an allocation. */
  readonly endHold: Duration;
}

/** As processes of this release are. */
export const usualPace: Pace = { startMax: 50, choreMax: 20, settleMax: 30, stopGrace: 1500, endHold: 300 };

/** Nothing takes time but the work itself. */
export const noTimeLost: Pace = { startMax: 0, choreMax: 0, settleMax: 0, stopGrace: 0, endHold: 0 };

/** A time below `max`; 0 where that is 0. */
export function drawTime(rng: Prng, max: Duration): Duration {
  return max === 0 ? 0 : rng.below(max);
}
