import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BrokerServiceClient, TaskStatus, type ExplainRequest, type JobSpec, type JobSummary, type LedgerRow, type ListTasksRequest,
  type ListTasksResponse, type MachineRecord, type TaskGroup,
  type TaskRecord,
} from '@mutirao/api/broker';
import { userTrust } from '@mutirao/runtime/identity';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { until } from '../until.ts';

const callDeadlineMs = 20_000;

/** A group of no tasks but for what the caller states; `{}` in its command stands for 0, 1, ... */
export function taskGroup(command: string, count: number, more: Partial<TaskGroup> = {}): TaskGroup {
  return {
    values: { $case: 'range', value: { first: 0, count, step: undefined } },
    command, noOp: false, inputs: [], outputs: [], check: '', requirements: '', ...more,
  };
}

/** Calls a broker as a test wants to: short, with deadlines, and whole lists instead of pages. */
export class BrokerClient {
  readonly raw: BrokerServiceClient;

  /** @param home the grid's home folder, for its token, and for its identity where the broker is not on loopback. */
  constructor(address: string, home: string) {
    this.raw = dial(BrokerServiceClient, address, { token: () => readFileSync(join(home, 'token'), 'utf8').trim(), trust: userTrust(home, {}) });
  }

  close(): void {
    this.raw.close();
  }

  /** Submits a job of these groups and answers its number. */
  async submit(groups: readonly TaskGroup[], more: Partial<JobSpec> = {}): Promise<number> {
    const job: JobSpec = {
      label: 'test', groups: [...groups], environment: {}, limits: undefined, processors: undefined, replicasMax: undefined,
      failuresMax: undefined, homeDirectory: '', deadlineUnixMs: undefined, ...more,
    };
    const { jobId } = await callUnary(this.raw, 'submitJob', { job, clientJobId: '' }, { deadlineMs: callDeadlineMs });
    return jobId;
  }

  async job(jobId: number): Promise<JobSummary> {
    const { job } = await callUnary(this.raw, 'getJob', { jobId }, { deadlineMs: callDeadlineMs });
    if (job === undefined) throw new Error(`no summary of job ${jobId}`);
    return job;
  }

  /** Waits for a job's end, across restarts of the broker. */
  async waitEnded(jobId: number, deadlineMs = 60_000): Promise<JobSummary> {
    const end = performance.now() + deadlineMs;
    for (;;) {
      try {
        const { job } = await callUnary(this.raw, 'waitJob', { jobId }, { deadlineMs: Math.max(1, end - performance.now()) });
        if (job !== undefined && job.endedUnixMs > 0) return job;
      } catch (error) {
        if (performance.now() > end) throw error;
        await until(() => this.isServing(), 'the broker serves again', Math.max(1, end - performance.now()));
      }
    }
  }

  async isServing(): Promise<boolean> {
    try {
      await callUnary(this.raw, 'listJobs', { pageSize: 1, beforeJobId: 0 }, { deadlineMs: 2000 });
      return true;
    } catch {
      return false;
    }
  }

  /** Why the broker takes nothing new; empty while it does. */
  async trouble(): Promise<string> {
    return (await callUnary(this.raw, 'listJobs', { pageSize: 1, beforeJobId: 0 }, { deadlineMs: callDeadlineMs })).trouble ?? '';
  }

  /** All tasks of a job, by index. */
  async tasks(jobId: number): Promise<TaskRecord[]> {
    const tasks: TaskRecord[] = [];
    let from: number | undefined = 0;
    while (from !== undefined) {
      const request: ListTasksRequest = { jobId, taskIndexes: [], status: TaskStatus.UNSPECIFIED, pageSize: 1000, fromTaskIndex: from };
      const page: ListTasksResponse = await callUnary(this.raw, 'listTasks', request, { deadlineMs: callDeadlineMs });
      tasks.push(...page.tasks);
      from = page.nextTaskIndex;
    }
    return tasks;
  }

  /** What a task printed on standard output. */
  async output(jobId: number, taskIndex: number): Promise<string> {
    const { standardOutput } = await callUnary(this.raw, 'getTaskOutput', { jobId, taskIndex }, { deadlineMs: callDeadlineMs });
    return Buffer.from(standardOutput).toString();
  }

  async machines(): Promise<MachineRecord[]> {
    return (await callUnary(this.raw, 'listMachines', {}, { deadlineMs: callDeadlineMs })).machines;
  }

  async ledger(jobId = 0): Promise<LedgerRow[]> {
    return (await callUnary(this.raw, 'getLedger', { jobId }, { deadlineMs: callDeadlineMs })).rows;
  }

  /** The summary and details of an explanation, a line each. */
  async explain(subject: ExplainRequest['subject']): Promise<string> {
    const { summary, details } = await callUnary(this.raw, 'explain', { subject }, { deadlineMs: callDeadlineMs });
    return [summary, ...details].join('\n');
  }

  async cancel(jobId: number, reason = ''): Promise<void> {
    await callUnary(this.raw, 'cancelJob', { jobId, reason }, { deadlineMs: callDeadlineMs });
  }

  /** Waits until so many machines are there. */
  async waitMachines(count: number): Promise<void> {
    await until(async () => (await this.machines()).length >= count, `${count} machines join`);
  }
}
