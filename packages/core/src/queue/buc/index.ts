export { bucRank, bucWeights, getLead, usualLeadMax, type BucOrder } from './buc-order.ts';
export { replayByScores, type ScoredReplay, type ScoredRequest, type ScoredTracedRequest } from './replay-by-scores.ts';
export {
  gainOfTighter,
  tighterWalltime,
  type FreshRequest,
  type QueueBefore,
  type WalltimeGain,
} from './tighter-walltime.ts';
export { countPrecision, gainOfScore, newcomer, findPrecision, type UserScore } from './user-score.ts';
