import type { JobList, Summary } from '../../schema/index.ts';
import { jobRow } from '../documents/jobs.ts';
import { summaryDocument } from '../documents/summary.ts';
import type { GatewayParts } from '../grid-calls.ts';
import type { GridHistory } from '../history.ts';
import { jobsListed, type Readings } from '../readings.ts';
import type { Handlers } from '../requests.ts';
import { bodyBytesMax } from '../limits.ts';

/** The session, and the grid at a glance. */
export function overviewHandlers(
  parts: GatewayParts,
  readings: Readings,
  history: GridHistory,
): Handlers<'getSession' | 'getSummary' | 'getHistory'> {
  return {
    getSession: () => ({
      version: parts.version,
      user_id: parts.userId,
      home: parts.home,
      directory: parts.directory,
      broker: parts.grid.brokerAddress(),
      has_reservations: parts.grid.findReservations() !== undefined,
      body_bytes_max: bodyBytesMax,
    }),
    getSummary: () => readSummary(readings),
    getHistory: ({ query }) => history.read(query.minutes ?? 10),
  };
}

/** The grid at a glance, of the newest answers. */
export async function readSummary(readings: Readings): Promise<Summary> {
  const [{ jobs }, overview] = await Promise.all([readings.jobs(), readings.overview()]);
  const [estimates, waits] = await Promise.all([readings.estimates(jobs), readings.waits(jobs)]);
  const rows = jobs.map((job) => jobRow(job, undefined, waits.get(job.jobId)));
  return summaryDocument({
    jobs,
    estimates,
    blocked: new Set(rows.filter((row) => row.is_blocked).map((row) => row.job_id)),
    overview,
    finishedPerSecond: readings.finishedPerSecond(),
    providersAway: overview.connectedProviderCount < overview.providerCount ? await listAway(readings) : [],
    hasMoreJobs: jobs.length >= jobsListed,
  });
}

async function listAway(readings: Readings): Promise<string[]> {
  const { providers } = await readings.providers();
  return providers.filter(({ connected }) => !connected).map(({ providerId }) => providerId);
}

/** The newest jobs with how long they still take. */
export async function readJobs(readings: Readings): Promise<JobList> {
  const { jobs } = await readings.jobs();
  const [estimates, waits] = await Promise.all([readings.estimates(jobs), readings.waits(jobs)]);
  return {
    jobs: jobs.map((job) => jobRow(job, estimates.get(job.jobId), waits.get(job.jobId))),
    next_before_job_id: jobs.length < jobsListed ? null : (jobs.at(-1)?.jobId ?? null),
  };
}
