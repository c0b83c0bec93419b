import type { Reason } from '../../../reasons/index.ts';
import type { BrokerJob } from '../state.ts';
import { bytesOfMemoryUnits } from '../times/observe-memory.ts';

/** Says how much memory tasks asked for and used; nothing where they asked for none, or none was measured. */
export function explainUsage({ queues, memoryPeaks }: BrokerJob): Reason[] {
  const asked = queues.map(({ resources }) => resources?.memory ?? 0);
  const mostAskedBytes = Math.max(0, ...asked);
  const [half, nine] = [memoryPeaks.quantile(0.5), memoryPeaks.quantile(0.9)];
  if (mostAskedBytes === 0 || half === undefined || nine === undefined) return [];
  return [
    {
      code: 'memory-use',
      leastAskedBytes: Math.min(...asked),
      mostAskedBytes,
      completedTasks: memoryPeaks.count,
      medianBytes: bytesOfMemoryUnits(half),
      ninetiethBytes: bytesOfMemoryUnits(nine),
    },
  ];
}
