export { conservativeBackfilling, type Compression } from './conservative.ts';
export { easyBackfilling } from './easy.ts';
export { firstComeFirstServed } from './fcfs.ts';
export type { Place, QueuePolicy } from './queue-policy.ts';
export { replayRequests, type ReplayedRequest, type TracedRequest } from './replay-requests.ts';
export { RequestPlan, type PlannedRequest } from './request-plan.ts';
