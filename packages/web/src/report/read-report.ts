import type { GetJobResponse, GetLedgerResponse, GetTaskOutputRequest, GetTaskOutputResponse, ListTasksRequest, ListTasksResponse } from '@mutirao/api/broker';

import type { Failures, Gantt, JobDetail, Ledger, TaskTimes } from '../schema/index.ts';
import { groupFailures, withSamples } from '../server/analysis/failures.ts';
import { drawGantt } from '../server/analysis/gantt.ts';
import { JobRecords } from '../server/analysis/job-records.ts';
import { measureTimes } from '../server/analysis/task-times.ts';
import { jobDetail, jobSpecPart } from '../server/documents/jobs.ts';
import { ledgerDocument } from '../server/documents/ledger.ts';
import { demandJob } from '../server/job-specs.ts';

/** What a report is made from: a part of what a client of a broker offers. */
export interface ReportBroker {
  getJob(request: { readonly jobId: number }): Promise<GetJobResponse>;
  listTasks(request: ListTasksRequest): Promise<ListTasksResponse>;
  getLedger(request: { readonly jobId: number }): Promise<GetLedgerResponse>;
  getTaskOutput(request: GetTaskOutputRequest): Promise<GetTaskOutputResponse>;
}

/** All that is told of a job afterwards. */
export interface JobReport {
  readonly madeAt: number;
  readonly detail: JobDetail;
  readonly gantt: Gantt;
  readonly times: TaskTimes;
  readonly failures: Failures;
  readonly ledger: Ledger;
}

/** Reads a job with everything that ran of it. Cost: a call to the broker for 1,000 tasks. @throws {MutiraoError} MUT_NOT_FOUND */
export async function readReport(broker: ReportBroker, jobId: number, clock: { now(): number }): Promise<JobReport> {
  const answer = await broker.getJob({ jobId });
  const job = demandJob(answer.job, jobId);
  const records = new JobRecords({ grid: { broker: () => broker }, clock }, job);
  await records.readAll(job);
  const now = clock.now();
  return {
    madeAt: now, detail: jobDetail(job, jobSpecPart(answer.spec ?? emptySpec), answer), gantt: drawGantt(records, { from: undefined, until: undefined, binCount: undefined, barsMax: undefined }, now),
    times: measureTimes(records, now), failures: await withSamples(broker, groupFailures(records)), ledger: ledgerDocument((await broker.getLedger({ jobId })).rows, jobId),
  };
}

const emptySpec = { label: '', groups: [], environment: {}, limits: undefined, homeDirectory: '', edges: [] };
