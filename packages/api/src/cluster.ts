export {
  AllocateRequest, AllocateResponse, ClusterServiceClient, ClusterServiceService, GetLimitsRequest, GetLimitsResponse,
  GetQueueRequest, GetQueueResponse, GetScoresRequest, GetScoresResponse, HonouredReservation, QueuedRequest, QueueRanking, ReleaseRequest, ReleaseResponse, RequestStatus, WatchQueueRequest,
  UserScore, WalltimeGain, WatchQueueResponse, type ClusterServiceServer,
} from './generated/mutirao/cluster/v1/cluster.ts';
