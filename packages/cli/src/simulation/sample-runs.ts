import { setImmediate } from 'node:timers/promises';
import type { JobSample } from '@mutirao/sim';

import type { CommandContext } from '../context.ts';
import { StudyProgress } from './study/study-progress.ts';

/** Time between two looks at the clock's hand, the user's spec to stop, and the terminal. */
const pauseEveryMs = 200;

/**
 * Samples run by run, and draws on a terminal how far it is; what it has when the user stops it is thrown away, as
 * undefined.
 */
export async function sampleRuns(
  { output, clock, signal }: CommandContext,
  count: number,
  sample: (run: number) => JobSample,
): Promise<JobSample[] | undefined> {
  const progress =
    output.progress === undefined || output.mode !== 'table'
      ? undefined
      : new StudyProgress(output, clock, { runs: count, cost: count });
  const samples: JobSample[] = [];
  let [pausedAt, reported] = [clock.now(), 0];
  const pause = async (): Promise<void> => {
    progress?.add({ runs: samples.length - reported, cost: samples.length - reported });
    [pausedAt, reported] = [clock.now(), samples.length];
    // Signals are handled between two turns of the event loop only.
    await setImmediate();
  };
  for (let run = 0; run < count && !signal.aborted; run++) {
    samples.push(sample(run));
    if (clock.now() - pausedAt >= pauseEveryMs) await pause();
  }
  if (reported > 0 && reported < samples.length) await pause();
  progress?.close();
  return signal.aborted ? undefined : samples;
}
