import { listUsedProviders } from './machines/takes-work.ts';
import type { Instant, ProcessorCount } from '../../shared/index.ts';
import { countRunning, statusOfMachine, type MachineStatus } from './queries.ts';
import type { BrokerState } from './state.ts';

/** How much there is of what jobs run on. */
export interface GridOverview {
  readonly machines: Readonly<Record<MachineStatus, number>>;
  /** Of all machines. */
  readonly processors: ProcessorCount;
  /** Replicas that fit on the processors of their machines. */
  readonly runningCount: number;
  readonly providerCount: number;
  readonly connectedProviderCount: number;
  readonly queuedRequestCount: number;
  readonly runningRequestCount: number;
}

/** Counts what jobs run on. Cost: O(machines + replicas on them + requests), without a copy of any. */
export function findOverview(state: BrokerState, now: Instant): GridOverview {
  const machines: Record<MachineStatus, number> = { idle: 0, busy: 0, draining: 0, quarantined: 0 };
  let [processors, runningCount] = [0, 0];
  for (const machine of state.machines.values()) {
    machines[statusOfMachine(state, machine, now)] += 1;
    processors += machine.processors;
    runningCount += countRunning(machine);
  }
  let connectedProviderCount = 0;
  for (const { isConnected } of state.providers.values()) if (isConnected) connectedProviderCount += 1;
  const requests = { queued: 0, running: 0 };
  for (const request of state.requests.values())
    if (request.status === 'queued' || request.status === 'running') requests[request.status] += 1;
  return {
    machines,
    processors,
    runningCount,
    providerCount: listUsedProviders(state).length,
    connectedProviderCount,
    queuedRequestCount: requests.queued,
    runningRequestCount: requests.running,
  };
}
