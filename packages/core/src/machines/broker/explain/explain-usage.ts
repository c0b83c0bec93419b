import type { Reason } from '../../../reasons/index.ts';
import { enoughShare, getAsked, measuredMin } from '../jobs/choose-memory.ts';
import type { BrokerJob } from '../state.ts';
import { bytesOfMemoryUnits } from '../times/observe-memory.ts';

/** Says how much memory tasks asked for and used; nothing where they asked for none, or none was measured. */
export function explainUsage(job: BrokerJob): Reason[] {
  return [...explainChosen(job), ...explainPeaks(job)];
}

/** How the memory of tasks was chosen; nothing where their user states it. */
export function explainChosen(job: BrokerJob): Reason[] {
  const memoryBytes = getAsked(job);
  if (memoryBytes === undefined) return [];
  const { count } = job.memoryPeaks;
  return count < measuredMin
    ? [{ code: 'memory-at-start', memoryBytes, completedTasks: count, neededTasks: measuredMin }]
    : [{ code: 'memory-chosen', memoryBytes, completedTasks: count, percent: Math.round(100 * enoughShare) }];
}

function explainPeaks({ queues, memoryPeaks }: BrokerJob): Reason[] {
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
