export {
  AllocateRequest, AllocateResponse, ClusterServiceClient, ClusterServiceService, GetLimitsRequest, GetLimitsResponse,
  GetQueueRequest, GetQueueResponse, HonouredReservation, QueuedRequest, ReleaseRequest, ReleaseResponse, RequestStatus, WatchQueueRequest,
  WatchQueueResponse, type ClusterServiceServer,
} from './generated/mutirao/cluster/v1/cluster.ts';
