import type {
  AllocateRequest,
  AllocateResponse,
  GetLimitsRequest,
  GetLimitsResponse,
  GetQueueRequest,
  GetQueueResponse,
  GetScoresRequest,
  GetScoresResponse,
  ReleaseRequest,
} from '@mutirao/api/cluster';

/** An embedded cluster as its local users see it: each call rejects with a MutiraoError. */
export interface ClusterClient {
  allocate(request: AllocateRequest): Promise<AllocateResponse>;
  release(request: ReleaseRequest): Promise<unknown>;
  getLimits(request: GetLimitsRequest): Promise<GetLimitsResponse>;
  getQueue(request: GetQueueRequest): Promise<GetQueueResponse>;
  getScores(request: GetScoresRequest): Promise<GetScoresResponse>;
}
