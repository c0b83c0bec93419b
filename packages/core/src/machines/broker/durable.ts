import type { BrokerChange } from './changes.ts';

const durableKinds: ReadonlySet<BrokerChange['kind']> = new Set([
  'JobAccepted',
  'TasksAppended',
  'JobClosed',
  'JobCancelled',
  'TasksCancelled',
  'TasksHeld',
  'TasksReleased',
  'JobUpdated',
  'JobsForgotten',
  'JobEnded',
  'TasksRetried',
  'InputsRevised',
  'ProviderAdded',
  'ProviderRemoved',
  'LeaseGranted',
  'MachineDrained',
  'MachineUndrained',
]);

/** Whether a change must be on the disk, not only in the system's cache, before anything follows from it. */
export function isDurable(change: BrokerChange): boolean {
  return durableKinds.has(change.kind);
}
