import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BrokerServiceClient,
  TaskStatus,
  type ExplainRequest,
  type GetTaskOutputResponse,
  type JobSpec,
  type JobSummary,
  type LedgerRow,
  type ListTasksRequest,
  type ListTasksResponse,
  type MachineRecord,
  type TaskGroup,
  type TaskRecord,
} from '@mutirao/api/broker';
import { wholeOutput } from '@mutirao/runtime/clients';
import { userTrust } from '@mutirao/runtime/identity';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { until } from '../until.ts';

const callDeadlineMs = 60_000;
/** A wait looks so often whether all processes live. */
const lookInterval = 5000;

/** A group of no tasks but for what the caller states; `{}` in its command stands for 0, 1, ... */
export function taskGroup(command: string, count: number, more: Partial<TaskGroup> = {}): TaskGroup {
  return {
    values: { $case: 'range', value: { first: 0, count, step: undefined } },
    command,
    noOp: false,
    inputs: [],
    outputs: [],
    check: '',
    requirements: '',
    alternatives: [],
    ...more,
  };
}

/** Calls a broker as a test wants to: short, with deadlines, and whole lists instead of pages. */
export class BrokerClient {
  readonly raw: BrokerServiceClient;

  readonly #assertLive: () => Promise<void>;

  /**
   * @param home the grid's home folder, for its token, and for its identity where the broker is not on loopback.
   * @param assertLive rejects where a process that is needed has ended by itself: each call and each wait then ends
   * with that.
   */
  constructor(address: string, home: string, assertLive = (): Promise<void> => Promise.resolve()) {
    this.#assertLive = assertLive;
    this.raw = dial(BrokerServiceClient, address, {
      token: () => readFileSync(join(home, 'token'), 'utf8').trim(),
      trust: userTrust(home, {}),
    });
  }

  close(): void {
    this.raw.close();
  }

  /** Submits a job of these groups and answers its number. */
  async submit(groups: readonly TaskGroup[], more: Partial<JobSpec> = {}): Promise<number> {
    const job: JobSpec = {
      label: 'test',
      groups: [...groups],
      environment: {},
      limits: undefined,
      processors: undefined,
      replicasMax: undefined,
      failuresMax: undefined,
      homeDirectory: '',
      deadlineUnixMs: undefined,
      edges: [],
      ...more,
    };
    const { jobId } = await this.#call('submitJob', { job, clientJobId: '' });
    return jobId;
  }

  async job(jobId: number): Promise<JobSummary> {
    const { job } = await this.#call('getJob', { jobId });
    if (job === undefined) throw new Error(`no summary of job ${jobId}`);
    return job;
  }

  /**
   * Waits for a job's end, across restarts of the broker. @throws Error that says how far the job has come, once it has
   * been waited for in vain.
   */
  async waitEnded(jobId: number, deadlineMs = 180_000): Promise<JobSummary> {
    const end = performance.now() + deadlineMs;
    while (performance.now() < end) {
      try {
        const { job } = await this.#call('waitJob', { jobId }, lookInterval);
        if (job !== undefined && job.endedUnixMs > 0) return job;
      } catch {
        await until(() => this.isServing(), 'the broker serves again', deadlineMs);
      }
    }
    const why = await this.explain({ $case: 'jobId', value: jobId }).catch(String);
    throw new Error(`waited ${deadlineMs} ms in vain for job ${jobId} to end: ${why}`);
  }

  async isServing(): Promise<boolean> {
    try {
      await this.#call('listJobs', { pageSize: 1, beforeJobId: 0 }, 2000);
      return true;
    } catch {
      await this.#assertLive();
      return false;
    }
  }

  /** Why the broker takes nothing new; empty while it does. */
  async trouble(): Promise<string> {
    return (await this.#call('listJobs', { pageSize: 1, beforeJobId: 0 })).trouble ?? '';
  }

  /** All tasks of a job, by index. */
  async tasks(jobId: number): Promise<TaskRecord[]> {
    const tasks: TaskRecord[] = [];
    let from: number | undefined = 0;
    while (from !== undefined) {
      const request: ListTasksRequest = {
        jobId,
        taskIndexes: [],
        status: TaskStatus.UNSPECIFIED,
        pageSize: 1000,
        fromTaskIndex: from,
      };
      const page: ListTasksResponse = await this.#call('listTasks', request);
      tasks.push(...page.tasks);
      from = page.nextTaskIndex;
    }
    return tasks;
  }

  /** What a task printed on standard output. */
  async output(jobId: number, taskIndex: number): Promise<string> {
    const { standardOutput } = await this.rawOutput(jobId, taskIndex);
    return Buffer.from(standardOutput).toString();
  }

  /** Both streams and the files of a task, as they are kept. */
  async rawOutput(jobId: number, taskIndex: number): Promise<GetTaskOutputResponse> {
    return wholeOutput({ jobId, taskIndex }, (page) => this.#call('getTaskOutput', page));
  }

  async machines(): Promise<MachineRecord[]> {
    return (await this.#call('listMachines', {})).machines;
  }

  async ledger(jobId = 0): Promise<LedgerRow[]> {
    return (await this.#call('getLedger', { jobId })).rows;
  }

  /** The summary and details of an explanation, a line each. */
  async explain(subject: ExplainRequest['subject']): Promise<string> {
    const { summary, waiting, details } = await this.#call('explain', { subject });
    return [summary, waiting, ...details].flatMap((reason) => (reason === undefined ? [] : [reason.text])).join('\n');
  }

  async cancel(jobId: number, reason = ''): Promise<void> {
    await this.#call('cancelJob', { jobId, reason });
  }

  /** Waits until `count` machines have joined. */
  async waitMachines(count: number): Promise<void> {
    await until(async () => (await this.machines()).length >= count, `${count} machines join`);
  }

  async #call<K extends keyof BrokerServiceClient>(
    method: K,
    request: Parameters<typeof callUnary<BrokerServiceClient, K>>[2],
    deadlineMs = callDeadlineMs,
  ): Promise<Awaited<ReturnType<typeof callUnary<BrokerServiceClient, K>>>> {
    try {
      return await callUnary(this.raw, method, request, { deadlineMs });
    } finally {
      await this.#assertLive();
    }
  }
}
