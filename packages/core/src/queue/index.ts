export {
  bucRank,
  bucWeights,
  countPrecision,
  gainOfScore,
  gainOfTighter,
  getLead,
  newcomer,
  findPrecision,
  replayByScores,
  tighterWalltime,
  usualLeadMax,
  type BucOrder,
  type FreshRequest,
  type ScoredReplay,
  type ScoredRequest,
  type ScoredTracedRequest,
  type UserScore,
  type WalltimeGain,
} from './buc/index.ts';
export { conservativeBackfilling, type Compression } from './conservative.ts';
export { easyBackfilling } from './easy.ts';
export { firstComeFirstServed } from './fcfs.ts';
export { NodePlan, NodeUse, shapeNodes, type ClusterNode, type NodeGrant, type NodePart } from './nodes/index.ts';
export type { Place, QueuePlan, QueuePolicy } from './queue-policy.ts';
export { replayRequests, type ReplayedRequest, type TracedRequest } from './replay-requests.ts';
export type { PlannedRequest, RequestList } from './request-list.ts';
export { RequestPlan } from './request-plan.ts';
export { ResourceReplay, type TimedRequest } from './resource-replay.ts';
export type { ReservationBlock } from './reservation-blocks.ts';
