import { downloadFormats, type Gantt, type TaskTimes } from '../../schema/index.ts';
import { MutiraoError } from '@mutirao/api/errors';
import { Outcome } from '@mutirao/api/machine';
import { printCsvRow } from '@mutirao/formats';

import { listFailedRuns } from '../analysis/failures.ts';
import { drawGantt } from '../analysis/gantt.ts';
import type { JobArchive } from '../analysis/job-archive.ts';
import type { JobRecords } from '../analysis/job-records.ts';
import type { ReplicaRow } from '../analysis/replica-rows.ts';
import { measureTimes } from '../analysis/task-times.ts';
import { ledgerDocument } from '../documents/ledger.ts';
import { getEnumName } from '../documents/names.ts';
import type { GatewayParts } from '../grid-calls.ts';
import type { Readings } from '../readings.ts';

/** A file to save. */
export interface Download {
  readonly name: string;
  readonly type: string;
  readonly body: string;
}

const types = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  html: 'text/html; charset=utf-8',
} as const;

/** What of a job is wanted, and how. */
export interface DownloadSpec {
  readonly jobId: number;
  readonly what: string;
  readonly format: string;
}

/**
 * Makes a file of the records of a job.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST for an unknown kind or format; MUT_NOT_FOUND
 */
export async function makeDownload(
  parts: GatewayParts,
  spec: DownloadSpec,
  { archive, readings }: { readonly archive: JobArchive; readonly readings: Readings },
): Promise<Download> {
  const { jobId, what, format } = spec;
  const formats = Object.entries(downloadFormats).find(([name]) => name === what)?.[1] as readonly string[] | undefined;
  if (formats?.includes(format) !== true)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `what is "${what.slice(0, 40)}" and format "${format.slice(0, 40)}"; expected one of ${listChoices()}`,
    );
  const body = await getBody(parts, spec, { archive, readings });
  return { name: `job-${jobId}-${what}.${format}`, type: types[format as keyof typeof types], body };
}

function listChoices(): string {
  return Object.entries(downloadFormats)
    .map(([name, formats]) => `${name} as ${formats.join(' or ')}`)
    .join(', ');
}

async function getBody(
  parts: GatewayParts,
  { jobId, what, format }: DownloadSpec,
  { archive, readings }: { readonly archive: JobArchive; readonly readings: Readings },
): Promise<string> {
  // The drawing code is loaded when somebody wants a picture, since it is large.
  if (what === 'report') {
    const { readReport, renderReport } = await import('../../report/index.ts');
    return renderReport(await readReport(parts.grid.broker(), jobId, parts.clock));
  }
  if (what === 'ledger') {
    const { rows } = ledgerDocument((await readings.ledger(jobId)).rows, jobId);
    return format === 'csv' ? getCsv(rows) : JSON.stringify(rows);
  }
  const records = await archive.look(jobId, { whole: true });
  const now = parts.clock.now();
  switch (what) {
    case 'replicas':
      return getTable(listReplicas(records), format);
    case 'failures':
      return getTable(listFailedRuns(records), format);
    case 'gantt':
      return ganttBody(
        drawGantt(records, { from: undefined, until: undefined, binCount: undefined, barsMax: undefined }, now),
        format,
      );
    case 'stragglers':
      return stragglersBody(measureTimes(records, now), format);
    default:
      return timesBody(measureTimes(records, now), format);
  }
}

function getTable(rows: readonly Row[], format: string): string {
  return format === 'csv' ? getCsv(rows) : JSON.stringify(rows);
}

async function ganttBody(gantt: Gantt, format: string): Promise<string> {
  return format === 'svg'
    ? (await import('../drawing/gantt-svg.ts')).drawGanttSvg(gantt, `Job ${gantt.job_id}`).svg
    : JSON.stringify(gantt);
}

async function stragglersBody(times: TaskTimes, format: string): Promise<string> {
  return format === 'svg'
    ? (await import('../drawing/times-svg.ts')).drawStragglersSvg(times)
    : getTable(times.stragglers, format);
}

async function timesBody(times: TaskTimes, format: string): Promise<string> {
  if (format === 'svg') return (await import('../drawing/times-svg.ts')).drawTimesSvg(times);
  return format === 'csv' ? getCsv(times.bins) : JSON.stringify(times);
}

type Row = Readonly<Record<string, string | number | boolean>>;

function listReplicas(records: JobRecords): Readonly<Record<string, string | number>>[] {
  return records
    .rows()
    .sort((one, other) => one.taskIndex - other.taskIndex || one.replicaId - other.replicaId)
    .map((row) => ({
      task_index: row.taskIndex,
      replica_id: row.replicaId,
      machine_id: row.machineId,
      kind: row.kind,
      dispatched_unix_ms: row.dispatchedAt,
      started_unix_ms: row.startedAt,
      ended_unix_ms: row.endedAt,
      ...listStaging(row),
      outcome: getEnumName(Outcome, row.outcome),
      exit_status: row.exitStatus,
      reason: row.reason,
      detail: row.detail?.text ?? '',
    }));
}

function listStaging({ staging }: ReplicaRow): Readonly<Record<string, number>> {
  return {
    inputs_asked_unix_ms: staging?.inputsAskedAt ?? 0,
    inputs_here_unix_ms: staging?.inputsHereAt ?? 0,
    inputs_placing_unix_ms: staging?.inputsPlacingAt ?? 0,
    command_ended_unix_ms: staging?.commandEndedAt ?? 0,
  };
}

/** Rows with the same fields as CSV (RFC 4180); nothing in it is a formula to a spreadsheet. */
export function getCsv(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => printCsvRow(names.map((name) => row[name] ?? '')));
  return [names.join(','), ...lines, ''].join('\r\n');
}
