export {
  AddProviderRequest, AddProviderResponse, AfterReservation, BrokerServiceClient, BrokerServiceService, CancelJobRequest, CancelJobResponse,
  DownloadBlobRequest, DownloadBlobResponse, ExplainRequest, ExplainResponse, GetJobRequest, GetJobResponse, GetLedgerRequest,
  GetLedgerResponse, GetOverviewRequest, GetOverviewResponse, GetProviderQueueRequest, GetProviderQueueResponse, GetQuotaRequest, GetQuotaResponse, GetTaskOutputRequest, GetTaskOutputResponse, InputSource, InputSpec, JobEvent, JobSpec, JobStatus, JobSummary,
  LedgerRow, ListJobsRequest, ListJobsResponse, ListMachinesRequest, ListMachinesResponse, ListProvidersRequest, ListProvidersResponse,
  ListRequestsRequest, ListRequestsResponse, ListTasksRequest, ListTasksResponse, ListTrustRequest, ListTrustResponse, MachineRecord,
  MachineStatus, OutputSpec, DrainMachineRequest, DrainMachineResponse, PardonMachineRequest, PardonMachineResponse, UndrainMachineRequest, UndrainMachineResponse, ProviderRecord, QuarantineMachineRequest, QuarantineMachineResponse,
  ReplicaFate, ReplicaRecord, ReplicationCap, RetryTasksRequest, RetryTasksResponse, Scheduler, SubmitJobRequest, Resumed, SubmitJobResponse, TaskFile, TaskGroup, TaskRecord, TaskStatus,
  TaskSubject, TrustEvidence, TrustRecord, UploadBlobRequest, UploadBlobResponse, ValueList, Verification, WaitJobRequest, WaitJobResponse, WatchJobRequest, WatchJobResponse,
  type BrokerServiceServer,
} from './generated/mutirao/broker/v1/broker.ts';
