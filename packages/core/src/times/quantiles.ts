import type { TimeQuantiles } from '../messages/index.ts';
import type { TimeCurve } from './time-curve.ts';

/** The quantiles of a curve that are reported to others; undefined before the first run. */
export function findQuantiles(times: TimeCurve): TimeQuantiles | undefined {
  const { count, censoredCount } = times;
  if (count + censoredCount === 0) return undefined;
  return {
    count,
    censoredCount,
    median: times.quantile(0.5),
    ninetieth: times.quantile(0.9),
    ninetyNinth: times.quantile(0.99),
  };
}
