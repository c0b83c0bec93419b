import type { Duration } from '../../shared/index.ts';
import { expectedRemainingOn, quantileOn } from '../../times/index.ts';
import type { BrokerJob, BrokerMachine } from './state.ts';

/** How much longer a replica of the job that runs for `elapsed` on the machine runs there, on average; undefined before any time is known. */
export function expectedRemaining({ times }: BrokerJob, elapsed: Duration, { slowness }: BrokerMachine): Duration | undefined {
  return expectedRemainingOn(times, slowness, elapsed);
}

/** How long a task of the job takes on the machine, on average; undefined before any time is known. */
export function expectedTime(job: BrokerJob, machine: BrokerMachine): Duration | undefined {
  return expectedRemaining(job, 0, machine);
}

/** The time within which a share of the job's tasks end on the machine, of those that ran there for `elapsed`; undefined where not known. */
export function timeQuantile({ times }: BrokerJob, { slowness }: BrokerMachine, asked: { readonly share: number; readonly elapsed: Duration }): Duration | undefined {
  return quantileOn(times, slowness, asked);
}
