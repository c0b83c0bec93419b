import { hash } from 'node:crypto';

import type { AppendTasksResponse, CancelTasksRequest, CloseJobRequest, CloseJobResponse } from '@mutirao/api/broker';
import {
  GetJobResponse,
  GetTaskOutputResponse,
  JobEvent,
  MachineStatus,
  ProviderRecord,
  TaskStatus,
  type ExplainRequest,
  type ExplainResponse,
  type GetJobRequest,
  type GetLedgerResponse,
  type GetOverviewResponse,
  type GetProviderQueueResponse,
  type GetTaskOutputRequest,
  type JobSpec,
  type JobSummary,
  type LedgerRow,
  type ListJobsRequest,
  type ListJobsResponse,
  type ListMachinesResponse,
  type ListProvidersResponse,
  type ListRequestsResponse,
  type ListTasksRequest,
  type HoldTasksRequest,
  type HoldTasksResponse,
  type ListTasksResponse,
  type ReleaseTasksRequest,
  type ReleaseTasksResponse,
  type ForgetJobsRequest,
  type ForgetJobsResponse,
  type UpdateJobResponse,
  type MachineRecord,
  type AppendTasksRequest,
  type CancelTasksResponse,
  type RetryTasksResponse,
  type SubmitJobRequest,
  type SubmitJobResponse,
  type TaskGroup,
  type TailTaskOutputRequest,
  type TailTaskOutputResponse,
  type TaskRecord,
  type WatchJobResponse,
} from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import { AllocationRequest, ProviderQueue, RequestStatus } from '@mutirao/api/provider';

import { aJobSpec } from './broker-records.ts';

const nothing = new Uint8Array();

/** Parts of the wire for tests of what shows them; what is not given is empty. */
export const wire = {
  event: (given: Partial<JobEvent>): JobEvent => ({
    ...JobEvent.decode(nothing),
    type: 'tasks.finished',
    jobId: 1,
    ...given,
  }),
  provider: (given: Partial<ProviderRecord>): ProviderRecord => ({
    ...ProviderRecord.decode(nothing),
    providerId: 'alpha',
    address: '127.0.0.1:1',
    connected: true,
    ...given,
  }),
  request: (given: Partial<AllocationRequest>): AllocationRequest => ({
    ...AllocationRequest.decode(nothing),
    providerId: 'alpha',
    requestId: 'q1',
    ...given,
  }),
  queue: (given: Partial<ProviderQueue>): ProviderQueue => ({
    ...ProviderQueue.decode(nothing),
    providerId: 'alpha',
    ...given,
  }),
  output: (out: string, error = ''): GetTaskOutputResponse => ({
    ...GetTaskOutputResponse.decode(nothing),
    standardOutput: Buffer.from(out),
    standardError: Buffer.from(error),
  }),
};

/** Answers what clients of a broker ask from lists that a test fills, and notes what it was asked. */
export class AnsweringBroker {
  jobs: JobSummary[] = [];
  readonly specs = new Map<number, JobSpec>();
  readonly tasks = new Map<number, TaskRecord[]>();
  readonly answers = new Map<number, Partial<GetJobResponse>>();
  machines: MachineRecord[] = [];
  providers: ProviderRecord[] = [];
  requests: AllocationRequest[] = [];
  /** The queues that providers report; the others are unknown. */
  readonly queues = new Map<string, ProviderQueue>();
  ledger: LedgerRow[] = [];
  readonly outputs = new Map<string, GetTaskOutputResponse>();
  explanation: ExplainResponse = { summary: undefined, waiting: undefined, details: [] };
  readonly submitted: SubmitJobRequest[] = [];
  readonly uploaded: Uint8Array[] = [];
  readonly asked: { readonly method: string; readonly request: unknown }[] = [];
  /** What the tail of any task brings. */
  tails: TailTaskOutputResponse[] = [];
  /** Why nothing can be asked; undefined while it answers. */
  awayBecause: MutiraoError | undefined;
  trouble: string | undefined;
  #reported: JobEvent[][] = [];
  #journalInstance = 'first';
  #wake: () => void = () => undefined;

  /** Sends events to the watchers, those of one change in one message. */
  report(...events: JobEvent[]): void {
    this.#reported.push(events);
    this.#wake();
  }

  /** It comes back with another journal, which counts again. */
  putBack(journalInstance: string): void {
    this.#journalInstance = journalInstance;
    this.#reported = [];
    this.#wake();
  }

  listJobs(request: ListJobsRequest): Promise<ListJobsResponse> {
    return this.#answer('listJobs', request, () => {
      const before = this.jobs.filter(({ jobId }) => request.beforeJobId === 0 || jobId < request.beforeJobId);
      return {
        jobs: before.sort((one, other) => other.jobId - one.jobId).slice(0, request.pageSize),
        trouble: this.trouble,
      };
    });
  }

  getJob(request: GetJobRequest): Promise<GetJobResponse> {
    return this.#answer('getJob', request, () => {
      const job = this.#job(request.jobId);
      return {
        ...GetJobResponse.decode(nothing),
        job,
        spec: request.withoutSpec === true ? undefined : (this.specs.get(request.jobId) ?? aJobSpec()),
        ...this.answers.get(request.jobId),
      };
    });
  }

  listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    return this.#answer('listTasks', request, () => {
      this.#job(request.jobId);
      const all = this.tasks.get(request.jobId) ?? [];
      // The tasks of a test are in the order of their indexes.
      const chosen =
        request.taskIndexes.length === 0
          ? all.slice(
              request.fromTaskIndex,
              request.status === TaskStatus.UNSPECIFIED ? request.fromTaskIndex + request.pageSize + 1 : undefined,
            )
          : request.taskIndexes.flatMap((index) => all[index] ?? []);
      const found = chosen.filter(
        ({ taskIndex, status }) =>
          taskIndex >= request.fromTaskIndex &&
          (request.status === TaskStatus.UNSPECIFIED || status === request.status),
      );
      return { tasks: found.slice(0, request.pageSize), nextTaskIndex: found[request.pageSize]?.taskIndex };
    });
  }

  getTaskOutput(request: GetTaskOutputRequest): Promise<GetTaskOutputResponse> {
    return this.#answer('getTaskOutput', request, () => {
      const output = this.outputs.get(`${request.jobId}/${request.taskIndex}`);
      if (output === undefined) throw new MutiraoError('MUT_NOT_FOUND', 'the task has no output');
      return output;
    });
  }

  async *tailTaskOutput(request: TailTaskOutputRequest, signal: AbortSignal): AsyncGenerator<TailTaskOutputResponse> {
    await this.#answer('tailTaskOutput', request, () => this.#job(request.jobId));
    for (const message of this.tails) if (!signal.aborted) yield message;
  }

  getOverview(): Promise<GetOverviewResponse> {
    return this.#answer('getOverview', {}, () => {
      const machines = (status: MachineStatus): number => this.machines.filter((one) => one.status === status).length;
      const requests = (status: RequestStatus): number => this.requests.filter((one) => one.status === status).length;
      return {
        idleMachineCount: machines(MachineStatus.IDLE),
        busyMachineCount: machines(MachineStatus.BUSY),
        drainingMachineCount: machines(MachineStatus.DRAINING),
        quarantinedMachineCount: machines(MachineStatus.QUARANTINED),
        processors: this.machines.reduce((sum, { facts }) => sum + (facts?.processors ?? 0), 0),
        runningCount: this.machines.reduce((sum, { runningCount }) => sum + runningCount, 0),
        providerCount: this.providers.length,
        connectedProviderCount: this.providers.filter(({ connected }) => connected).length,
        queuedRequestCount: requests(RequestStatus.QUEUED),
        runningRequestCount: requests(RequestStatus.RUNNING),
        trouble: this.trouble,
      };
    });
  }

  listMachines(): Promise<ListMachinesResponse> {
    return this.#answer('listMachines', {}, () => ({ machines: this.machines }));
  }

  listRequests(request: { readonly includeEnded: boolean }): Promise<ListRequestsResponse> {
    return this.#answer('listRequests', request, () => ({ requests: this.requests }));
  }

  listProviders(): Promise<ListProvidersResponse> {
    return this.#answer('listProviders', {}, () => ({ providers: this.providers }));
  }

  getProviderQueue(request: { readonly providerId: string }): Promise<GetProviderQueueResponse> {
    return this.#answer('getProviderQueue', request, () => {
      const queue = this.queues.get(request.providerId);
      if (queue === undefined)
        throw new MutiraoError('MUT_UNREACHABLE', `provider ${request.providerId} cannot be reached`);
      return { queue, ageMs: 500 };
    });
  }

  getLedger(request: { readonly jobId: number }): Promise<GetLedgerResponse> {
    return this.#answer('getLedger', request, () => ({ rows: this.ledger }));
  }

  explain(request: ExplainRequest): Promise<ExplainResponse> {
    return this.#answer('explain', request, () => this.explanation);
  }

  cancelJob(request: unknown): Promise<unknown> {
    return this.#answer('cancelJob', request, () => ({}));
  }

  appendTasks(request: AppendTasksRequest): Promise<AppendTasksResponse> {
    return this.#answer('appendTasks', request, () => ({ firstTaskIndex: 0, taskCount: 1, warnings: [] }));
  }

  closeJob(request: CloseJobRequest): Promise<CloseJobResponse> {
    return this.#answer('closeJob', request, () => ({ taskCount: 12 }));
  }

  cancelTasks(request: CancelTasksRequest): Promise<CancelTasksResponse> {
    return this.#answer('cancelTasks', request, () => ({ cancelledCount: request.taskIndexes.length }));
  }

  holdTasks(request: HoldTasksRequest): Promise<HoldTasksResponse> {
    return this.#answer('holdTasks', request, () => ({ heldCount: request.taskIndexes.length || 3 }));
  }

  releaseTasks(request: ReleaseTasksRequest): Promise<ReleaseTasksResponse> {
    return this.#answer('releaseTasks', request, () => ({ releasedCount: request.taskIndexes.length || 3 }));
  }

  forgetJobs(request: ForgetJobsRequest): Promise<ForgetJobsResponse> {
    return this.#answer('forgetJobs', request, () => ({ jobIds: request.jobIds, hasMore: false }));
  }

  updateJob(request: unknown): Promise<UpdateJobResponse> {
    return this.#answer('updateJob', request, () => ({}));
  }

  retryTasks(request: unknown): Promise<RetryTasksResponse> {
    return this.#answer('retryTasks', request, () => ({ retriedCount: 3 }));
  }

  submitJob(request: SubmitJobRequest): Promise<SubmitJobResponse> {
    return this.#answer('submitJob', request, () => {
      this.submitted.push(request);
      const groups = request.job?.groups ?? [];
      const countOf = ({ values }: TaskGroup): number =>
        values?.$case === 'range' ? values.value.count : (values?.value.values.length ?? 0);
      return {
        jobId: this.submitted.length,
        taskCount: groups.reduce((sum, group) => sum + countOf(group), 0),
        resumed: undefined,
        warnings: [],
      };
    });
  }

  uploadBlob(data: Uint8Array): Promise<{ sha256: Buffer; sizeBytes: number }> {
    return this.#answer('uploadBlob', { size: data.length }, () => {
      this.uploaded.push(data);
      return { sha256: hash('sha256', data, 'buffer'), sizeBytes: data.length };
    });
  }

  /** Sends new events each time that the test reports some, and skips the oldest ones beyond the size of the sample. */
  async *watchJob(
    request: { readonly lastChanges?: number | undefined; readonly changesPerSecondMax?: number | undefined },
    signal: AbortSignal,
  ): AsyncGenerator<WatchJobResponse> {
    await this.#answer('watchJob', request, () => undefined);
    let next = Math.max(0, this.#reported.length - (request.lastChanges ?? Infinity));
    const journalInstance = this.#journalInstance;
    const isOpen = (): boolean => !signal.aborted && journalInstance === this.#journalInstance;
    while (isOpen()) {
      const skippedCount = Math.max(
        0,
        this.#reported.length - next - Math.max(request.lastChanges ?? 0, request.changesPerSecondMax ?? Infinity),
      );
      next += skippedCount;
      if (skippedCount > 0) yield { events: this.#reported[next++] ?? [], skippedCount, journalInstance };
      while (next < this.#reported.length && isOpen()) yield { events: this.#reported[next++] ?? [], journalInstance };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener(
          'abort',
          () => {
            resolve();
          },
          { once: true },
        );
      });
    }
  }

  /** How often a method was called. */
  timesAsked(method: string): number {
    return this.asked.filter((one) => one.method === method).length;
  }

  #job(jobId: number): JobSummary {
    const job = this.jobs.find((one) => one.jobId === jobId);
    if (job === undefined) throw new MutiraoError('MUT_NOT_FOUND', `there is no job ${jobId} of yours`);
    return job;
  }

  async #answer<T>(method: string, request: unknown, make: () => T): Promise<T> {
    this.asked.push({ method, request });
    await Promise.resolve();
    if (this.awayBecause !== undefined) throw this.awayBecause;
    return make();
  }
}
