import type { LedgerRow as LedgerRowWire } from '@mutirao/api/broker';

import type { Ledger, LedgerRow } from '../../schema/index.ts';

const rowsMax = 1000;
type Times = Ledger['total'];

/**
 * Where the processor-time went: sums, sums by provider, and the last rows. @param jobId undefined for all that the
 * broker has held.
 */
export function ledgerDocument(rows: readonly LedgerRowWire[], jobId: number | undefined): Ledger {
  const byProvider = Map.groupBy(rows, ({ providerId }) => providerId);
  return {
    job_id: jobId ?? null,
    total: sumOf(rows),
    by_provider: [...byProvider].map(([providerId, own]) => ({
      provider_id: providerId,
      allocation_count: own.length,
      ...sumOf(own),
    })),
    rows: rows.slice(-rowsMax).map(rowDocument),
    rows_left_out: Math.max(0, rows.length - rowsMax),
  };
}

/** A row of the ledger. */
export function rowDocument(row: LedgerRowWire): LedgerRow {
  return { provider_id: row.providerId, request_id: row.requestId, ended: row.ended, ...listTimes(row) };
}

function listTimes(row: LedgerRowWire): Times {
  return {
    requested_processor_ms: row.requestedProcessorMs,
    held_processor_ms: row.heldProcessorMs,
    used_processor_ms: row.usedProcessorMs,
    losers_processor_ms: row.losersProcessorMs,
    killed_processor_ms: row.killedProcessorMs,
    idle_processor_ms: row.idleProcessorMs,
  };
}

function sumOf(rows: readonly LedgerRowWire[]): Times {
  const sum: Times = {
    requested_processor_ms: 0,
    held_processor_ms: 0,
    used_processor_ms: 0,
    losers_processor_ms: 0,
    killed_processor_ms: 0,
    idle_processor_ms: 0,
  };
  const names = Object.keys(sum) as (keyof Times)[];
  for (const row of rows) {
    const own = listTimes(row);
    for (const name of names) sum[name] += own[name];
  }
  return sum;
}
