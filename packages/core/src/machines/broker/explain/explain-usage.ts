import { describeBytes } from '../../../shared/index.ts';
import type { BrokerJob } from '../state.ts';
import { bytesOfMemoryUnits } from '../times/observe-memory.ts';
import { plural } from './sentences.ts';

/** Says how much memory tasks asked for and used; nothing where they asked for none, or none was measured. */
export function explainUsage({ queues, memoryPeaks }: BrokerJob): string[] {
  const asked = queues.map(({ resources }) => resources?.memory ?? 0);
  const [least, most] = [Math.min(...asked), Math.max(0, ...asked)];
  const [half, nine] = [memoryPeaks.quantile(0.5), memoryPeaks.quantile(0.9)];
  if (most === 0 || half === undefined || nine === undefined) return [];
  const range = least === most ? describeBytes(most) : `${describeBytes(least)} to ${describeBytes(most)}`;
  return [
    `A task asks for ${range} of memory; half of them use up to ${describeBytes(bytesOfMemoryUnits(half))}, nine ` +
      `tenths up to ${describeBytes(bytesOfMemoryUnits(nine))}, by ${plural(memoryPeaks.count, 'run')}.`,
  ];
}
