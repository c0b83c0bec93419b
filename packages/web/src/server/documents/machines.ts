import { MachineStatus, type MachineRecord } from '@mutirao/api/broker';

import { machineStatusNames, type Machine, type MachineOverview } from '../../schema/index.ts';
import { getEnumName } from './names.ts';
import { machineCounts } from './summary.ts';

const shownMax = 5000;

/** All machines by provider, as columns. Cost: O(machines log machines). */
export function machineOverview(machines: readonly MachineRecord[]): MachineOverview {
  const sites = Map.groupBy(machines, ({ providerId }) => providerId);
  return {
    statuses: [...machineStatusNames],
    sites: [...sites]
      .sort(([one], [other]) => compare(one, other))
      .map(([providerId, own]) => siteDocument(providerId, own)),
  };
}

function siteDocument(providerId: string, machines: readonly MachineRecord[]): MachineOverview['sites'][number] {
  const shown = byName(machines).slice(0, shownMax);
  return {
    provider_id: providerId,
    machine_count: machines.length,
    processors: machines.reduce((sum, { facts }) => sum + (facts?.processors ?? 0), 0),
    running_count: machines.reduce((sum, { runningCount }) => sum + runningCount, 0),
    ...machineCounts(machines),
    machines: {
      machine_id: shown.map(getMachineId),
      status: shown.map(({ status }) => Math.max(0, machineStatusNames.indexOf(statusName(status)))),
      processors: shown.map(({ facts }) => facts?.processors ?? 0),
      running: shown.map(({ runningCount }) => runningCount),
      until_unix_ms: shown.map(({ facts }) => facts?.untilUnixMs ?? 0),
    },
    left_out_count: machines.length - shown.length,
  };
}

function statusName(status: MachineStatus): (typeof machineStatusNames)[number] {
  return getEnumName(MachineStatus, status) as (typeof machineStatusNames)[number];
}

/** The name of a machine. */
export function getMachineId({ facts }: MachineRecord): string {
  return facts?.machineId ?? '';
}

/** Numbers within names are compared as such: m2 comes before m10. */
export function byName(machines: readonly MachineRecord[]): MachineRecord[] {
  return [...machines].sort((one, other) => compare(getMachineId(one), getMachineId(other)));
}

const compare = new Intl.Collator('en', { numeric: true }).compare;

function countGpus(gpus: readonly { readonly kind: string }[]): Machine['gpus'] {
  return [...Map.groupBy(gpus, ({ kind }) => kind)].map(([kind, own]) => ({ kind, count: own.length }));
}

type FactsPart = Pick<Machine, 'processors' | 'until_unix_ms' | 'request_id' | 'memory_bytes' | 'gpus' | 'attributes'>;

/** What a machine states of itself. */
function factsPart(facts: MachineRecord['facts']): FactsPart {
  if (facts === undefined)
    return { processors: 0, until_unix_ms: null, request_id: '', memory_bytes: 0, gpus: [], attributes: {} };
  const { processors, untilUnixMs = null, requestId, capacity, attributes } = facts;
  return {
    processors,
    until_unix_ms: untilUnixMs,
    request_id: requestId,
    memory_bytes: capacity?.memoryBytes ?? 0,
    gpus: countGpus(capacity?.gpus ?? []),
    attributes,
  };
}

/** A machine in full. */
export function machineDocument(machine: MachineRecord): Machine {
  const { facts } = machine;
  return {
    machine_id: getMachineId(machine),
    provider_id: machine.providerId,
    status: getEnumName(MachineStatus, machine.status),
    ...factsPart(facts),
    running_count: machine.runningCount,
    waiting_count: machine.waitingCount,
    finished_count: machine.finishedCount,
    failed_count: machine.failedCount,
    joined_unix_ms: machine.joinedUnixMs,
    credibility: machine.credibility ?? null,
  };
}
