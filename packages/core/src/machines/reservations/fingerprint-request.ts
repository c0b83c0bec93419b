import type { ReservationSpec } from '../../messages/index.ts';
import type { Duration } from '../../shared/index.ts';

/** What is asked for, with how long its place is only to be held. */
export interface HeldSpec {
  readonly spec: ReservationSpec;
  /** 0 for a reservation. */
  readonly hold: Duration;
}

/**
 * A number that the same spec always has, and another one all but never: 53 bits of a hash, so that millions of specs
 * need not be kept.
 */
export function fingerprintRequest({
  spec: { resourceId, amount, duration, earliestStart, latestEnd, timing },
  hold,
}: HeldSpec): number {
  const much =
    amount.kind === 'text'
      ? [amount.text.trim()]
      : [
          amount.kind,
          amount.amountMin,
          amount.amountMax,
          amount.kind === 'elastic' ? amount.referenceAmount : amount.work,
        ];
  return hash(JSON.stringify([resourceId, much, duration, earliestStart ?? null, latestEnd ?? null, timing, hold]));
}

/** Whole numbers of 32 bits alone, so that it is the same everywhere. */
function hash(text: string): number {
  let [high, low] = [0x811c9dc5, 0x41c6ce57];
  for (let index = 0; index < text.length; index += 1) {
    const letter = text.charCodeAt(index);
    high = Math.imul(high ^ letter, 0x01000193);
    low = Math.imul(low ^ letter, 0x5bd1e995);
    low ^= low >>> 15;
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}
