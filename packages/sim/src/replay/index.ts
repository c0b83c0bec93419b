export { findDifference, type Difference } from './find-difference.ts';
export {
  TraceReplay,
  type ReplayOptions,
  type ReplayProblem,
  type ReplayReport,
  type TracePoint,
} from './trace-replay.ts';
