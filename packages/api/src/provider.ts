export {
  AddMachinesRequest, AddMachinesResponse, AllocationRequest, ConnectRequest, ConnectResponse, ContentPushed, Demand, DrainRequest, DrainResponse, FromMachine,
  GetQueueRequest, GetQueueResponse, GetResourceRequest, GetResourceResponse, GridMachineProviderServiceClient, GridMachineProviderServiceService, InviteMachineRequest, InviteMachineResponse, KeptMachine, KeptMachineState, KeptMachineStatus,
  Lease, LeaseConfirmed, LeaseGroup, LeaseState, LeaseTrim, ListKeptMachinesRequest, ListKeptMachinesResponse, ListMachineCredentialsRequest, ListMachineCredentialsResponse, ListRequestsRequest, ListRequestsResponse,
  MachineCredential, MachineCredentialStatus, MachineJoined, MachineLost, ProviderQueue, QueueEntry, QueueKnowledge, ReceiveContentRequest, ReceiveContentResponse,
  RemoveMachineRequest, RemoveMachineResponse, RequestCandidate, RequestStatus, RequestsChanged, SendContentRequest, SendContentResponse, Settled, SwitchHeuristicRequest,
  SwitchHeuristicResponse, ToMachine, UndrainRequest, UndrainResponse, type GridMachineProviderServiceServer,
} from './generated/mutirao/provider/v1/provider.ts';
