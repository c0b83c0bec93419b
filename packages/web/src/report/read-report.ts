import type {
  GetJobResponse,
  GetLedgerResponse,
  GetTaskOutputRequest,
  GetTaskOutputResponse,
  ListTasksRequest,
  ListTasksResponse,
} from '@mutirao/api/broker';

import type { Failures, Gantt, JobDetail, Ledger, TaskTimes } from '../schema/index.ts';
import { groupFailures, listFailedRuns, withSamples, type FailedRun } from '../server/analysis/failures.ts';
import { drawGantt } from '../server/analysis/gantt.ts';
import { JobRecords } from '../server/analysis/job-records.ts';
import { measureTimes } from '../server/analysis/task-times.ts';
import { jobDetail, jobSpecPart } from '../server/documents/jobs.ts';
import { ledgerDocument } from '../server/documents/ledger.ts';
import { requireJob } from '../server/job-specs.ts';

const barsMax = 5000;
const binsMax = 240;
/** Sums of one kind; with those of the runs that were not accepted and of files there may be a few times as many. */
const cellsMax = 24_000;
const failedRunsMax = 1000;

/** What a report is made from: a part of what a client of a broker offers. */
export interface ReportBroker {
  getJob(request: { readonly jobId: number }): Promise<GetJobResponse>;
  listTasks(request: ListTasksRequest): Promise<ListTasksResponse>;
  getLedger(request: { readonly jobId: number }): Promise<GetLedgerResponse>;
  getTaskOutput(request: GetTaskOutputRequest): Promise<GetTaskOutputResponse>;
}

/** Everything that a report on a job contains. */
export interface JobReport {
  readonly madeAt: number;
  readonly detail: JobDetail;
  readonly gantt: Gantt;
  readonly times: TaskTimes;
  readonly failures: Failures;
  /** The last runs that failed or were lost, 1,000 at most, and how many more there are. */
  readonly failedRuns: readonly FailedRun[];
  readonly failedRunsLeftOut: number;
  readonly ledger: Ledger;
}

/**
 * Reads a job with everything that ran of it. Cost: a call to the broker for 1,000 tasks. @throws {MutiraoError}
 * MUT_NOT_FOUND
 */
export async function readReport(broker: ReportBroker, jobId: number, clock: { now(): number }): Promise<JobReport> {
  const answer = await broker.getJob({ jobId });
  const job = requireJob(answer.job, jobId);
  const records = new JobRecords({ grid: { broker: () => broker }, clock }, job);
  await records.readAll(job);
  const now = clock.now();
  const failedRuns = listFailedRuns(records);
  return {
    madeAt: now,
    detail: jobDetail(job, jobSpecPart(answer.spec ?? emptySpec), { answer }),
    gantt: drawBounded(records, now),
    times: measureTimes(records, now),
    failures: await withSamples(broker, groupFailures(records)),
    failedRuns: failedRuns.slice(-failedRunsMax),
    failedRunsLeftOut: Math.max(0, failedRuns.length - failedRunsMax),
    ledger: ledgerDocument((await broker.getLedger({ jobId })).rows, jobId),
  };
}

/** Runs one by one where they are few, else sums of as many stretches of time as all machines have room for. */
function drawBounded(records: JobRecords, now: number): Gantt {
  const window = { from: undefined, until: undefined, barsMax };
  const gantt = drawGantt(records, { ...window, binCount: undefined }, now);
  return gantt.bars === null
    ? drawGantt(
        records,
        { ...window, binCount: Math.max(12, Math.min(binsMax, Math.floor(cellsMax / Math.max(1, gantt.rows.length)))) },
        now,
      )
    : gantt;
}

const emptySpec = { label: '', groups: [], environment: {}, limits: undefined, homeDirectory: '', edges: [] };
