import type { Bytes } from '../../../shared/index.ts';
import type { ReplicaEnding } from '../changes.ts';
import { memoryCodes } from '../jobs/grow-memory.ts';
import type { BrokerJob } from '../state.ts';

/** Curves are of whole numbers up to 2^45; memory is kept in KiB. */
const memoryUnit: Bytes = 1024;

/** Bytes of a value of `memoryPeaks`. */
export function bytesOfMemoryUnits(units: number): Bytes {
  return units * memoryUnit;
}

/**
 * Learns from an end how much memory a task of the job uses at its peak. One that was ended for its memory would have
 * used more.
 */
export function observeMemory({ memoryPeaks }: BrokerJob, { usage, outcome, reason }: ReplicaEnding): void {
  if (usage === undefined || usage.memoryPeak === 0) return;
  const peak = Math.ceil(usage.memoryPeak / memoryUnit);
  if (outcome === 'succeeded') memoryPeaks.add(peak);
  else if (memoryCodes.has(reason)) memoryPeaks.addCensored(peak);
}
