import type { Duration } from '../shared/index.ts';
import { type Slowness, slownessFactor } from './slowness.ts';
import type { TimeCurve } from './time-curve.ts';

/**
 * The time within which this share of the runs end on a machine, of those that last longer than `elapsed` there;
 * undefined where not known.
 */
export function quantileOn(
  times: TimeCurve,
  slowness: Slowness,
  { share, elapsed }: { readonly share: number; readonly elapsed: Duration },
): Duration | undefined {
  const factor = slownessFactor(slowness);
  const time = times.quantile(share, elapsed / factor);
  return time === undefined ? undefined : Math.ceil(time * factor);
}

/**
 * How much longer a run that has lasted for `elapsed` on a machine lasts there, on average; undefined where nothing is
 * known of its job.
 */
export function expectedRemainingOn(times: TimeCurve, slowness: Slowness, elapsed: Duration): Duration | undefined {
  const factor = slownessFactor(slowness);
  const remaining = times.expectedRemaining(elapsed / factor);
  return remaining === undefined ? undefined : Math.ceil(remaining * factor);
}

/**
 * How long a run that has lasted for `elapsed` on a machine lasts there in all, on average; undefined as above. Never
 * falls as `elapsed` grows.
 */
export function expectedTotalOn(times: TimeCurve, slowness: Slowness, elapsed: Duration): Duration | undefined {
  const factor = slownessFactor(slowness);
  const total = times.expectedTotal(elapsed / factor);
  return total === undefined ? undefined : Math.ceil(total * factor);
}
