import { getIdentity } from '../../../messages/index.ts';
import type { MachineId } from '../../../shared/index.ts';
import { credibilityOfMachine } from '../../../trust/index.ts';
import type { BrokerMachine, BrokerState } from '../state.ts';
import type { TrustRecord } from './trust-evidence.ts';

export { getIdentity };

/** The record of that identity; opened when there is none. */
export function openRecord(state: BrokerState, identity: string, machineId: MachineId): TrustRecord {
  let record = state.records.get(identity);
  if (record === undefined) {
    record = { identity, machineId, passes: 0, quarantinedAt: 0, evidence: [], trustResetAt: 0 };
    state.records.set(identity, record);
  }
  return record;
}

/** Whether a machine was caught and gets nothing more. */
export function isQuarantined(state: BrokerState, machine: BrokerMachine): boolean {
  return (state.records.get(getIdentity(machine.facts))?.quarantinedAt ?? 0) !== 0;
}

/** What is known of as caught, in the order of the alphabet. Cost: O(records). */
export function quarantinedIdentities({ records }: BrokerState): string[] {
  const quarantined: string[] = [];
  for (const { identity, quarantinedAt } of records.values()) if (quarantinedAt !== 0) quarantined.push(identity);
  return quarantined.sort();
}

/**
 * Identities that get nothing new: caught machines, and drained ones. In the order of the alphabet. Cost: O(records).
 */
export function closedIdentities(state: BrokerState): string[] {
  const quarantined = quarantinedIdentities(state);
  return state.drainedMachines.size === 0
    ? quarantined
    : [...new Set([...quarantined, ...state.drainedMachines.keys()])].sort();
}

/** The probability that a result of that machine is right, at least. */
export function getCredibility(state: BrokerState, identity: string): number {
  return credibilityOfMachine(state.records.get(identity)?.passes ?? 0, state.options.trust.credibility);
}

/**
 * The record that a user means by a machine's name, now or last, or by its identity; undefined when nothing is known of
 * it.
 */
export function findIdentity(
  state: BrokerState,
  name: string,
): { readonly identity: string; readonly machineId: MachineId } | undefined {
  const machine = state.machines.get(name);
  if (machine !== undefined) return { identity: getIdentity(machine.facts), machineId: name };
  const record = state.records.get(name) ?? [...state.records.values()].find(({ machineId }) => machineId === name);
  return record === undefined ? undefined : { identity: record.identity, machineId: record.machineId };
}
