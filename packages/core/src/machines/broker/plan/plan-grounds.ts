import { usableProcessors } from '../../../bag/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { getExpectedEnd, getFactor } from './planned-times.ts';
import type { BrokerMachine, BrokerReplica, Planning } from '../state.ts';

/** Processors that are planned with; machines beyond them get what is left over. */
const columnsMax = 256;

/** A processor that is planned with. */
export interface Column {
  readonly host: number;
  readonly freeAt: Instant;
  /** What holds it now. */
  readonly replica: BrokerReplica | undefined;
}

/** The machines that are planned with, and their processors. */
export interface Grounds {
  readonly machines: readonly BrokerMachine[];
  /** By place of the machine in `machines`: how many times longer it takes than is usual. */
  readonly factors: readonly number[];
  readonly columns: readonly Column[];
}

/** Takes stock of the machines and of when their processors are free. Cost: O(machines + replicas). */
export function layGrounds(planning: Planning, machines: readonly BrokerMachine[], now: Instant): Grounds {
  const all = machines.reduce((sum, { processors }) => sum + processors, 0);
  const each = all <= columnsMax ? Infinity : Math.max(1, Math.floor(columnsMax / machines.length));
  const columns: Column[] = [];
  for (const [host, machine] of machines.entries()) {
    const own = listColumns(planning, machine, { host, now });
    columns.push(...own.slice(0, Math.min(each, columnsMax - columns.length)));
  }
  return { machines, columns, factors: machines.map((machine) => getFactor(planning, machine)) };
}

/** The processors of a machine of which it is known when they are free, those that are first before the others. */
function listColumns(
  planning: Planning,
  machine: BrokerMachine,
  { host, now }: { readonly host: number; readonly now: Instant },
): Column[] {
  const usable = usableProcessors(machine);
  const held: Column[] = [];
  for (const replica of machine.replicas.values()) {
    const freeAt = getExpectedEnd(planning, replica, now);
    for (let processor = 0; processor < replica.processors && held.length < usable; processor++)
      held.push({ host, freeAt, replica });
  }
  held.sort((one, other) => one.freeAt - other.freeAt);
  return [
    ...Array.from({ length: usable - held.length }, (): Column => ({ host, freeAt: now, replica: undefined })),
    ...held.filter(({ freeAt }) => freeAt < Infinity),
  ];
}
