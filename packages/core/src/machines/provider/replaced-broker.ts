import { makeRoom } from './standby.ts';
import type { KnownBroker } from './state.ts';
import { commit, type Turn } from './turn.ts';

/**
 * Notes which journal a broker speaks for. One that speaks for another than before begins again: it gets nothing that
 * was leased to, kept for or held for
 * the former, whose replica ids mean other tasks. One that never named a journal goes on when it does.
 */
export function noteInstance(turn: Turn, broker: KnownBroker, instance: string): void {
  const { brokerId, instance: known } = broker;
  if (instance === '' || instance === known) return;
  if (known === '') commit(turn, { kind: 'InstanceKnown', brokerId, instance, at: turn.now });
  else replaceBroker(turn, broker, instance);
}

function replaceBroker(turn: Turn, { brokerId, demandFrom }: KnownBroker, instance: string): void {
  const { state, now } = turn;
  for (const {
    facts: { machineId, incarnation },
    brokerId: owner,
    reports,
  } of [...state.kept.values()]) {
    const last = reports.at(-1);
    if (owner === brokerId && last !== undefined)
      commit(turn, { kind: 'ReportsForgotten', machineId, incarnation, upTo: last.sequence });
  }
  if (demandFrom > 0) commit(turn, { kind: 'DemandEnded', brokerId, at: now });
  commit(turn, { kind: 'BrokerReplaced', brokerId, instance, at: now });
  for (const machine of state.machines.values()) {
    if (machine.brokerId !== brokerId) continue;
    // What is reported from here on is still the former's.
    machine.isKeeping = false;
    machine.isFull = false;
  }
  makeRoom(turn);
}
