import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { JobStatus, type JobSummary } from '@mutirao/api/broker';
import { callUnary } from '@mutirao/runtime/rpc';
import type { BrokerClient } from '../grid/broker-client.ts';
import { gatePath, type LoadFolders, type SubmittedJob } from './workload.ts';

const lookInterval = 500;
/** Long enough for a broker that lives, short for one that is stopped. */
const callPatience = 4000;

/** Where a job is tended. */
export interface Tending {
  readonly client: BrokerClient;
  readonly folders: LoadFolders;
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal;
  /** Called for each call that failed. */
  note(line: string): void;
}

/**
 * Does to a job what its way says, through all faults: resolves when it has been done, and for a job that is retried
 * when it is finished.
 */
export async function tendJob(tending: Tending, job: SubmittedJob): Promise<void> {
  const { disposition } = job.way;
  if (disposition === 'cancelled' || disposition === 'resumed') await cancelMidway(tending, job);
  if (disposition === 'retried') {
    await look(tending, job, ({ endedUnixMs }) => endedUnixMs > 0);
    writeFileSync(gatePath(tending.folders, job.label), '');
  }
  if (disposition === 'resumed' || disposition === 'retried') await retryUntilFinished(tending, job);
}

/** When a quarter of it is finished. A job that ends meanwhile is left as it is. */
async function cancelMidway(tending: Tending, job: SubmittedJob): Promise<void> {
  const { taskCount } = await look(tending, job, () => true);
  for (;;) {
    const { endedUnixMs, cancelReason } = await look(
      tending,
      job,
      (found) => found.endedUnixMs > 0 || found.finishedCount * 4 >= taskCount,
    );
    if (endedUnixMs > 0 || cancelReason !== undefined) return;
    const call = (): Promise<unknown> =>
      callUnary(tending.client.raw, 'cancelJob', { jobId: job.jobId, reason: 'chaos' }, { deadlineMs: callPatience });
    if (await attempt(tending, `cancel ${job.label}`, call)) return;
    await sleep(lookInterval, undefined, { signal: tending.signal });
  }
}

async function retryUntilFinished(tending: Tending, job: SubmittedJob): Promise<void> {
  for (;;) {
    const { status } = await look(tending, job, ({ endedUnixMs }) => endedUnixMs > 0);
    if (status === JobStatus.FINISHED) return;
    await attempt(tending, `retry ${job.label}`, () =>
      callUnary(
        tending.client.raw,
        'retryTasks',
        { jobId: job.jobId, taskIndexes: [], currentInputs: false },
        { deadlineMs: callPatience },
      ),
    );
    await sleep(lookInterval, undefined, { signal: tending.signal });
  }
}

/** Asks for the job until `holds`. */
async function look(
  tending: Tending,
  { jobId, label }: SubmittedJob,
  holds: (job: JobSummary) => boolean,
): Promise<JobSummary> {
  for (;;) {
    let job: JobSummary | undefined;
    await attempt(tending, `look at ${label}`, async () => {
      job = (await callUnary(tending.client.raw, 'getJob', { jobId }, { deadlineMs: callPatience })).job;
    });
    if (job !== undefined && holds(job)) return job;
    await sleep(lookInterval, undefined, { signal: tending.signal });
  }
}

/** Whether it was answered. */
async function attempt({ note }: Tending, what: string, act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    note(`${what}: ${String(error)}`);
    return false;
  }
}
