export {
  AllocationRequest, ConnectRequest, ConnectResponse, ContentPushed, Demand, DrainRequest, DrainResponse, FromMachine, GetResourceRequest,
  GetResourceResponse, GridMachineProviderServiceClient, GridMachineProviderServiceService, ListRequestsRequest, ListRequestsResponse,
  MachineJoined, MachineLost, ReceiveContentRequest, ReceiveContentResponse, RequestStatus, RequestsChanged, SendContentRequest,
  SendContentResponse, Settled, SwitchHeuristicRequest, SwitchHeuristicResponse, ToMachine, type GridMachineProviderServiceServer,
} from './generated/mutirao/provider/v1/provider.ts';
