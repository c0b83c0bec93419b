import Type, { type Static } from 'typebox';
import { Count, JobId, orNull } from './parts.ts';

const processorTimes = {
  requested_processor_ms: Count,
  held_processor_ms: Count,
  used_processor_ms: Count,
  losers_processor_ms: Count,
  killed_processor_ms: Count,
  idle_processor_ms: Count,
};

/** Processor-time of an allocation, or of a provider's time-shared machines: held = used + losers + killed + idle. */
export const LedgerRow = Type.Object({
  provider_id: Type.String(),
  request_id: Type.String(),
  ended: Type.Boolean(),
  ...processorTimes,
});
export type LedgerRow = Static<typeof LedgerRow>;

/** Where the processor-time went. */
export const Ledger = Type.Object({
  job_id: orNull(JobId),
  total: Type.Object(processorTimes),
  by_provider: Type.Array(Type.Object({ provider_id: Type.String(), allocation_count: Count, ...processorTimes })),
  rows: Type.Array(LedgerRow, { description: 'The last 1,000.' }),
  rows_left_out: Count,
});
export type Ledger = Static<typeof Ledger>;
