import type { Machine } from '../../shared/index.ts';
import { apply } from './apply.ts';
import type { ProviderChange } from './changes.ts';
import { checkInvariants } from './check-invariants.ts';
import type { ProviderCommand } from './commands.ts';
import type { ProviderInput } from './inputs.ts';
import type { ProviderState } from './state.ts';
import { step } from './step.ts';

export { openProviderInitialState, saveProviderInitialState } from './beginning.ts';
export type { ProviderChange } from './changes.ts';
export type { ProviderCommand } from './commands.ts';
export { takesNoWork } from './draining.ts';
export { isDurable } from './durable.ts';
export { heuristicInForce, isWatching } from './heuristic.ts';
export type { ProviderInput } from './inputs.ts';
export { takeSnapshot, restoreSnapshot, type ProviderSnapshot } from './snapshot.ts';
export { viewQueue, type QueueKnowledge, type ViewedQueue, type ViewedRequest } from './queue-view.ts';
export { listUses } from './reserved-windows.ts';
export { measureInterval } from './watched-facts.ts';
export { keptKey, type SpooledLease, type EnrolledMachine, type KeptReport } from './spooled-lease.ts';
export { leftOfLease, roomForReports } from './leases.ts';
export {
  getClientRequestId,
  createProviderState,
  describeRequest,
  firstRequestLimits,
  isPending,
  isServing,
  observedTaskTimes,
  providerDefaults,
  type BrokerId,
  type FirstRequestLimits,
  type HeuristicSetting,
  type HeuristicSwitch,
  type KnownBroker,
  type OwnRequest,
  type ProvidedMachine,
  type ProviderConfig,
  type ProviderState,
} from './state.ts';

/** The GridMachineProvider: turns demand into allocation requests and these into GridMachines. */
export const providerMachine: Machine<ProviderState, ProviderInput, ProviderChange, ProviderCommand> = {
  step,
  apply,
  checkInvariants,
};
