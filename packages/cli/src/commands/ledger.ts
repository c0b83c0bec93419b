import type { Command } from 'commander';

import type { LedgerRow } from '@mutirao/api/broker';

import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { ledgerRowJson, ledgerTotalJson } from '../json/documents.ts';
import { renderTable, type Column } from '../output/table.ts';
import { printResult } from '../output/print-result.ts';
import { showProcessorSeconds } from '../output/units.ts';
import { resolveJobId } from '../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('[job]', 'a job number, or "last" (default: every job)')
    .action((job?: string) => act((context) => printLedger(context, job)));
}

/** Prints where the processor-time went, per allocation, and the sums. */
export async function printLedger(context: CommandContext, job: string | undefined): Promise<ExitStatus> {
  const broker = await context.broker();
  const jobId = job === undefined ? 0 : await resolveJobId(broker, job);
  const { rows } = await broker.getLedger({ jobId });
  const total = sumRows(rows);
  printResult(context.output, {
    json: () => ({ job_id: jobId === 0 ? null : jobId, rows: rows.map(ledgerRowJson), total: ledgerTotalJson(total) }),
    table: () => (rows.length === 0 ? ['No allocations so far.'] : ledgerTable(rows, total, jobId !== 0)),
    quiet: () => rows.map(nameOfRow),
  });
  return 0;
}

/** The sums of rows, as a row without names. */
export function sumRows(rows: readonly LedgerRow[]): LedgerRow {
  const sum = (pick: (row: LedgerRow) => number): number => rows.reduce((total, row) => total + pick(row), 0);
  return {
    providerId: '',
    requestId: '',
    ended: rows.every((row) => row.ended),
    requestedProcessorMs: sum((row) => row.requestedProcessorMs),
    heldProcessorMs: sum((row) => row.heldProcessorMs),
    usedProcessorMs: sum((row) => row.usedProcessorMs),
    losersProcessorMs: sum((row) => row.losersProcessorMs),
    killedProcessorMs: sum((row) => row.killedProcessorMs),
    idleProcessorMs: sum((row) => row.idleProcessorMs),
  };
}

/**
 * Rows and their sums; the columns after HELD add up to it, and a row where they do not is marked.
 *
 * @param ofJob leaves out what is nobody's share: what was asked for, and idle time.
 */
export function ledgerTable(rows: readonly LedgerRow[], total: LedgerRow, ofJob: boolean): string[] {
  const right = (title: string): Column => ({ title, right: true });
  const columns = [
    { title: 'ALLOCATION' },
    ...(ofJob ? [] : [right('REQUESTED')]),
    right('HELD'),
    right('='),
    right('USED'),
    right('LOSERS'),
    right('KILLED'),
    ...(ofJob ? [] : [right('IDLE')]),
    right('USED %'),
    { title: '' },
  ];
  const cells = (name: string, row: LedgerRow, end: string): string[] => [
    name,
    ...(ofJob ? [] : [getRequested(row)]),
    showProcessorSeconds(row.heldProcessorMs),
    addsUp(row) ? '=' : '≠',
    ...[row.usedProcessorMs, row.losersProcessorMs, row.killedProcessorMs, ...(ofJob ? [] : [row.idleProcessorMs])].map(
      showProcessorSeconds,
    ),
    row.heldProcessorMs === 0 ? '-' : ((100 * row.usedProcessorMs) / row.heldProcessorMs).toFixed(1),
    end,
  ];
  const parts = `used + losers + killed${ofJob ? '' : ' + idle'}`;
  return [
    ...renderTable(columns, [
      ...rows.map((row) => cells(nameOfRow(row), row, row.ended ? '' : 'still held')),
      cells('total', total, ''),
    ]),
    '',
    'Processor-seconds. ' +
      `${rows.every(addsUp) ? `Held = ${parts}, in every row.` : 'Rows marked ≠ do not add up: a bug, report it.'}`,
    ...(ofJob ? ['What this job\'s replicas held; idle time belongs to no job: "mutirao ledger" shows it.'] : []),
  ];
}

/** Nothing is asked for where machines are just there. */
function getRequested(row: LedgerRow): string {
  return row.requestedProcessorMs === 0 ? '-' : showProcessorSeconds(row.requestedProcessorMs);
}

function addsUp(row: LedgerRow): boolean {
  return (
    row.heldProcessorMs === row.usedProcessorMs + row.losersProcessorMs + row.killedProcessorMs + row.idleProcessorMs
  );
}

function nameOfRow(row: LedgerRow): string {
  return row.requestId === '' ? row.providerId : `${row.providerId}/${row.requestId}`;
}
