import type { Reason } from '../reasons/index.ts';
import type { Instant, ProcessorCount } from '../shared/index.ts';

/**
 * How far the provider of a resource has come with what a reservation will need: `planned`, not requested yet; `asked`,
 * requested and not in the queue yet; `queued`; `held`, all processors are ready before the start; `honoured`, all are
 * ready and the reservation has begun; `late`, it has begun and some are missing; `lost`, processors that were ready
 * are gone.
 */
export type ProvisioningState = 'planned' | 'asked' | 'queued' | 'held' | 'honoured' | 'late' | 'lost';

/** Processors pre-acquired or requested for a reservation, as its provider reports them. */
export interface Provisioning {
  readonly status: ProvisioningState;
  /** Of the reserved processors, those that are there, idle or in use. */
  readonly heldCount: ProcessorCount;
  /** Those that are asked for, and are not there. */
  readonly askedCount: ProcessorCount;
  /** When the first is requested; 0 unless `status` is `planned`, and if that depends on the queue's forecast. */
  readonly askAt: Instant;
  /**
   * When all would be ready by the present queue, if the rest were requested now; 0 if that is unknown, or all are
   * ready.
   */
  readonly expectedAt: Instant;
  /**
   * Share of requests like it, among those that waited as long already, that were there in the time that is left;
   * undefined where none is known, or it has begun.
   */
  readonly chance: number | undefined;
  /** What went wrong, or was done otherwise than asked for. */
  readonly reasons: readonly Reason[];
}

/** The reservation that processors are held for. */
export interface AheadView {
  readonly count: ProcessorCount;
  readonly startsAt: Instant;
}

/** What is held ahead, the deciding reason first. */
export function describeProvisioning(ahead: Provisioning, { count, startsAt }: AheadView): Reason[] {
  const { status, heldCount, askedCount, askAt, expectedAt, chance } = ahead;
  const reasons: Reason[] = [
    {
      code: 'pre-acquisition',
      status,
      readyProcessors: heldCount,
      reservedProcessors: count,
      requestedProcessors: askedCount,
    },
  ];
  if (status === 'planned')
    reasons.push(
      askAt === 0 ? { code: 'pre-acquisition-by-forecast' } : { code: 'pre-acquisition-from', requestUnixMs: askAt },
    );
  if (expectedAt > 0)
    reasons.push({ code: 'pre-acquisition-expected', expectedUnixMs: expectedAt, startUnixMs: startsAt });
  if (chance !== undefined) reasons.push({ code: 'pre-acquisition-chance', percent: chance * 100 });
  return [...reasons, ...ahead.reasons];
}
