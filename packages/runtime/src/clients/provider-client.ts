import type {
  AddMachinesRequest,
  DrainRequest,
  GetQueueResponse,
  GetQuotaRequest,
  GetQuotaResponse,
  GetResourceResponse,
  InviteMachineRequest,
  InviteMachineResponse,
  ListEnrolledMachinesResponse,
  ListMachineCredentialsResponse,
  ListRequestsResponse,
  RemoveMachineRequest,
  SwitchHeuristicRequest,
  SwitchHeuristicResponse,
} from '@mutirao/api/provider';

/** A provider as its owner sees it: each call rejects with a MutiraoError. */
export interface ProviderClient {
  getResource(): Promise<GetResourceResponse>;
  getQueue(): Promise<GetQueueResponse>;
  getQuota(request: GetQuotaRequest): Promise<GetQuotaResponse>;
  listRequests(): Promise<ListRequestsResponse>;
  drain(request: DrainRequest): Promise<unknown>;
  undrain(): Promise<unknown>;
  switchHeuristic(request: SwitchHeuristicRequest): Promise<SwitchHeuristicResponse>;
  addMachines(request: AddMachinesRequest): Promise<unknown>;
  removeMachine(request: RemoveMachineRequest): Promise<unknown>;
  listEnrolledMachines(): Promise<ListEnrolledMachinesResponse>;
  inviteMachine(request: InviteMachineRequest): Promise<InviteMachineResponse>;
  listMachineCredentials(): Promise<ListMachineCredentialsResponse>;
}
