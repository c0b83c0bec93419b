export { getBin, longestOfBin, timeMax } from './bins.ts';
export { findQuantiles } from './quantiles.ts';
export { expectedRemainingOn, expectedTotalOn, quantileOn } from './remaining.ts';
export {
  compareRun,
  compareWith,
  slownessFactor,
  unknownSlowness,
  type ComparedRun,
  type Slowness,
} from './slowness.ts';
export { TimeCurve, type SavedCurve } from './time-curve.ts';
