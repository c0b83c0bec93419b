import type { Duration, ProcessorCount } from '@mutirao/core/shared';
import type { ClusterProcess } from './cluster-process.ts';

/** Marks the command of a local user's request, and says how long it runs. */
const timeVariable = 'SIMULATED_TIME';

/** A local user's request, and for how long it is then used. */
export interface LocalOrder {
  readonly userId: string;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  readonly runTime: Duration;
}

/** A local user submits a request at the cluster itself; if that is down, or refuses it, the user goes away. */
export function submitLocally(
  cluster: ClusterProcess | undefined,
  { userId, width, walltime, runTime }: LocalOrder,
): void {
  const order = {
    userId,
    width,
    walltime,
    command: ['local'],
    environment: { [timeVariable]: String(runTime) },
    workingDirectory: '',
    clientRequestId: '',
  };
  cluster?.answer({ kind: 'allocate', order }, () => undefined);
}

/** How long the command of a local user's request runs. */
export function readRunTime(environment: Readonly<Record<string, string>>): Duration {
  return Number(environment[timeVariable] ?? 0);
}
