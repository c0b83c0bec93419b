import { Outcome } from '@mutirao/api/machine';
import type { ReplicaRecord } from '@mutirao/api/broker';

/** How a job ended, as GNU parallel's joblog says it. */
export interface JobExit {
  /** -1 where a limit of time ended it. */
  readonly exitStatus: number;
  /** 0 for none. */
  readonly signal: number;
}

/** A shell adds this to the number of a signal. */
const signalBase = 128;
const signalMax = 64;

/** How a replica ended; a shell's status above 128 is taken for a signal. */
export function exitOfReplica(replica: ReplicaRecord | undefined): JobExit {
  if (replica === undefined) return { exitStatus: 255, signal: 0 };
  if (replica.outcome === Outcome.LIMITED) return { exitStatus: -1, signal: 15 };
  const { exitStatus } = replica;
  const signal = exitStatus - signalBase;
  if (signal > 0 && signal <= signalMax) return { exitStatus: 0, signal };
  const isBroken = exitStatus === 0 && replica.outcome !== Outcome.SUCCEEDED;
  return { exitStatus: isBroken ? 255 : exitStatus, signal: 0 };
}
