import type {
  AddProviderRequest,
  RemoveProviderRequest,
  AppendTasksRequest,
  AppendTasksResponse,
  CancelJobRequest,
  CloseJobRequest,
  CloseJobResponse,
  CancelTasksRequest,
  CancelTasksResponse,
  ExplainRequest,
  ExplainResponse,
  ForgetJobsRequest,
  ForgetJobsResponse,
  GetJobRequest,
  GetJobResponse,
  GetLedgerRequest,
  GetLedgerResponse,
  GetOverviewResponse,
  GetProviderQueueRequest,
  GetProviderQueueResponse,
  GetQuotaRequest,
  GetQuotaResponse,
  GetTaskOutputRequest,
  GetTaskOutputResponse,
  ListJobsRequest,
  ListJobsResponse,
  ListMachinesResponse,
  ListProvidersResponse,
  ListRequestsRequest,
  ListRequestsResponse,
  ListTasksRequest,
  ListTasksResponse,
  HoldTasksRequest,
  HoldTasksResponse,
  ReleaseTasksRequest,
  ReleaseTasksResponse,
  UpdateJobRequest,
  UpdateJobResponse,
  ListTrustResponse,
  DrainMachineRequest,
  ResetMachineTrustRequest,
  UndrainMachineRequest,
  QuarantineMachineRequest,
  RetryTasksRequest,
  RetryTasksResponse,
  SubmitJobRequest,
  SubmitJobResponse,
  TailTaskOutputRequest,
  TailTaskOutputResponse,
  WatchJobRequest,
  WatchJobResponse,
} from '@mutirao/api/broker';
import type { Content } from '@mutirao/api/common';

/** The broker as its user's programs see it: each call rejects with a MutiraoError. */
export interface BrokerClient {
  submitJob(request: SubmitJobRequest): Promise<SubmitJobResponse>;
  getJob(request: GetJobRequest): Promise<GetJobResponse>;
  listJobs(request: ListJobsRequest): Promise<ListJobsResponse>;
  appendTasks(request: AppendTasksRequest): Promise<AppendTasksResponse>;
  closeJob(request: CloseJobRequest): Promise<CloseJobResponse>;
  cancelJob(request: CancelJobRequest): Promise<unknown>;
  cancelTasks(request: CancelTasksRequest): Promise<CancelTasksResponse>;
  holdTasks(request: HoldTasksRequest): Promise<HoldTasksResponse>;
  releaseTasks(request: ReleaseTasksRequest): Promise<ReleaseTasksResponse>;
  updateJob(request: UpdateJobRequest): Promise<UpdateJobResponse>;
  forgetJobs(request: ForgetJobsRequest): Promise<ForgetJobsResponse>;
  retryTasks(request: RetryTasksRequest): Promise<RetryTasksResponse>;
  /** Ends when the stream does or `signal` fires; the caller resumes from the last sequence that it saw. */
  watchJob(request: WatchJobRequest, signal: AbortSignal): AsyncIterable<WatchJobResponse>;
  listTasks(request: ListTasksRequest): Promise<ListTasksResponse>;
  getTaskOutput(request: GetTaskOutputRequest): Promise<GetTaskOutputResponse>;
  /** Ends when the task has ended or `signal` fires; the caller resumes from the offsets that it has. */
  tailTaskOutput(request: TailTaskOutputRequest, signal: AbortSignal): AsyncIterable<TailTaskOutputResponse>;
  getOverview(): Promise<GetOverviewResponse>;
  listMachines(): Promise<ListMachinesResponse>;
  listTrust(): Promise<ListTrustResponse>;
  quarantineMachine(request: QuarantineMachineRequest): Promise<unknown>;
  resetMachineTrust(request: ResetMachineTrustRequest): Promise<unknown>;
  drainMachine(request: DrainMachineRequest): Promise<unknown>;
  undrainMachine(request: UndrainMachineRequest): Promise<unknown>;
  listRequests(request: ListRequestsRequest): Promise<ListRequestsResponse>;
  explain(request: ExplainRequest): Promise<ExplainResponse>;
  getQuota(request: GetQuotaRequest): Promise<GetQuotaResponse>;
  getLedger(request: GetLedgerRequest): Promise<GetLedgerResponse>;
  addProvider(request: AddProviderRequest): Promise<unknown>;
  removeProvider(request: RemoveProviderRequest): Promise<unknown>;
  getProviderQueue(request: GetProviderQueueRequest): Promise<GetProviderQueueResponse>;
  listProviders(): Promise<ListProvidersResponse>;
  /** Uploads a file that tasks will name by its content. */
  uploadBlob(data: Uint8Array): Promise<Content>;
}
