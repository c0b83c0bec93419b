import type {
  ExplainRequest, ExplainResponse, GetJobRequest, GetJobResponse, GetLedgerRequest, GetLedgerResponse, GetTaskOutputRequest, GetTaskOutputResponse, ListJobsRequest, ListJobsResponse,
  ListMachinesResponse, ListProvidersResponse, ListRequestsRequest, ListRequestsResponse, ListTasksRequest, ListTasksResponse, RetryTasksRequest, RetryTasksResponse,
  CancelJobRequest, SubmitJobRequest, SubmitJobResponse, WatchJobRequest, WatchJobResponse,
} from '@mutirao/api/broker';
import type { Content } from '@mutirao/api/common';
import type { GetQueueResponse } from '@mutirao/api/cluster';
import type { GetResourceResponse, ListRequestsResponse as ListOwnRequestsResponse } from '@mutirao/api/provider';
import type {
  CancelReservationRequest, GetCalendarRequest, GetCalendarResponse, ListReservationsRequest, ListReservationsResponse, ListResourcesResponse, RenegotiateReservationRequest,
  RenegotiateReservationResponse, RequestReservationRequest, RequestReservationResponse,
} from '@mutirao/api/reservation';

/** What the gateway asks of a broker; each call rejects with a MutiraoError. */
export interface BrokerCalls {
  submitJob(request: SubmitJobRequest): Promise<SubmitJobResponse>;
  getJob(request: GetJobRequest): Promise<GetJobResponse>;
  listJobs(request: ListJobsRequest): Promise<ListJobsResponse>;
  cancelJob(request: CancelJobRequest): Promise<unknown>;
  retryTasks(request: RetryTasksRequest): Promise<RetryTasksResponse>;
  /** Leaving the loop early, or `signal`, cancels the call. */
  watchJob(request: WatchJobRequest, signal: AbortSignal): AsyncIterable<WatchJobResponse>;
  listTasks(request: ListTasksRequest): Promise<ListTasksResponse>;
  getTaskOutput(request: GetTaskOutputRequest): Promise<GetTaskOutputResponse>;
  listMachines(): Promise<ListMachinesResponse>;
  listRequests(request: ListRequestsRequest): Promise<ListRequestsResponse>;
  explain(request: ExplainRequest): Promise<ExplainResponse>;
  getLedger(request: GetLedgerRequest): Promise<GetLedgerResponse>;
  listProviders(): Promise<ListProvidersResponse>;
  /** Uploads a file that tasks will name by its content. */
  uploadBlob(data: Uint8Array): Promise<Content>;
}

/** What it asks of a provider. */
export interface ProviderCalls {
  getResource(): Promise<GetResourceResponse>;
  listRequests(): Promise<ListOwnRequestsResponse>;
}

/** What it asks of an embedded cluster. */
export interface ClusterCalls {
  getQueue(): Promise<GetQueueResponse>;
}

/** What it asks of a reservation manager. */
export interface ReservationCalls {
  listResources(): Promise<ListResourcesResponse>;
  getCalendar(request: GetCalendarRequest): Promise<GetCalendarResponse>;
  listReservations(request: ListReservationsRequest): Promise<ListReservationsResponse>;
  requestReservation(request: RequestReservationRequest): Promise<RequestReservationResponse>;
  renegotiateReservation(request: RenegotiateReservationRequest): Promise<RenegotiateReservationResponse>;
  cancelReservation(request: CancelReservationRequest): Promise<unknown>;
}

/** The grid that the page shows; a test gives it fakes. Nothing is dialled before it is asked. */
export interface Grid {
  /** @throws {MutiraoError} MUT_UNREACHABLE where no broker has started. */
  broker(): BrokerCalls;
  /** Its address, as far as it is known; empty while none has started. */
  brokerAddress(): string;
  provider(address: string): ProviderCalls;
  /** The embedded cluster of that provider's name; undefined where it is none of this grid's. */
  findCluster(providerId: string): ClusterCalls | undefined;
  /** Undefined where the home folder has no reservation manager. */
  findReservations(): ReservationCalls | undefined;
}

/** What handlers work with. */
export interface GatewayParts {
  readonly grid: Grid;
  readonly clock: { now(): number };
  readonly userId: string;
  readonly home: string;
  /** Where relative paths of jobs begin. Absolute. */
  readonly directory: string;
  readonly version: string;
}
