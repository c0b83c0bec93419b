import type { Command } from 'commander';

import { MachineStatus, type MachineRecord, type TrustRecord } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import { describeBytes, findNearestWord, plural } from '@mutirao/core/shared';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { shownMachineJson } from '../../json/documents.ts';
import { renderPairs } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration, showInstant } from '../../output/units.ts';
import { getEnumName } from '../../wire/names.ts';
import { describeEvidence } from './trust.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<machine>', 'name of the machine, now or earlier, or its identity')
    .action((machine: string) => act((context) => showMachine(context, machine)));
}

/** Shows what is known of one machine, also of one that is not here now but has a record. */
export async function showMachine(context: CommandContext, wanted: string): Promise<ExitStatus> {
  const broker = await context.broker();
  const [{ machines }, { records }] = await Promise.all([broker.listMachines(), broker.listTrust()]);
  const machine =
    machines.find(({ facts }) => facts?.machineId === wanted) ??
    machines.find(({ facts }) => facts?.identity === wanted);
  const trust = findTrust(records, machine?.facts?.identity ?? wanted, wanted);
  const name = machine?.facts?.machineId ?? trust?.machineId;
  if (name === undefined)
    throw unknown(wanted, [
      ...machines.map(({ facts }) => facts?.machineId ?? ''),
      ...records.map(({ machineId }) => machineId),
    ]);
  printResult(context.output, {
    json: () => shownMachineJson({ name, machine, trust }),
    table: () =>
      renderPairs([['machine', name], ...presencePairs(machine, context.clock.now()), ...trustPairs(trust, machine)]),
    quiet: () => [name],
  });
  return 0;
}

function findTrust(records: readonly TrustRecord[], identity: string, name: string): TrustRecord | undefined {
  return records.find((record) => record.identity === identity) ?? records.find(({ machineId }) => machineId === name);
}

function unknown(wanted: string, names: readonly string[]): MutiraoError {
  const nearest = findNearestWord(wanted, names);
  const advice = nearest === undefined ? 'see "mutirao machine list"' : `did you mean "${nearest}"?`;
  return new MutiraoError('MUT_NOT_FOUND', `nothing is known of a machine ${wanted}; ${advice}`);
}

type Pair = readonly [string, string];
type Facts = NonNullable<MachineRecord['facts']>;

function presencePairs(machine: MachineRecord | undefined, now: number): Pair[] {
  const facts = machine?.facts;
  if (machine === undefined || facts === undefined) return [['status', 'not here now']];
  return [
    ['status', getEnumName(MachineStatus, machine.status)],
    ['provider', machine.providerId],
    ['request', facts.requestId === '' ? '' : `${machine.providerId}/${facts.requestId}`],
    ['processors', String(facts.processors)],
    ['resources', describeCapacity(facts.capacity)],
    ['here since', showInstant(machine.joinedUnixMs)],
    ['leaves in', facts.untilUnixMs === undefined ? '' : showDuration(Math.max(0, facts.untilUnixMs - now))],
    [
      'replicas',
      `${machine.runningCount} running, ${machine.waitingCount} waiting there, ${machine.finishedCount} ` +
        `finished, ${machine.failedCount} failed`,
    ],
    [
      'attributes',
      Object.entries(facts.attributes)
        .map(([attribute, value]) => `${attribute}=${value}`)
        .join(' '),
    ],
  ];
}

/** Memory, GPUs by kind, and counted resources; empty for a machine that says nothing of them. */
function describeCapacity(capacity: Facts['capacity']): string {
  if (capacity === undefined) return '';
  const counts = new Map<string, number>();
  for (const { kind } of capacity.gpus) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [
    ...(capacity.memoryBytes === 0 ? [] : [`${describeBytes(capacity.memoryBytes)} of memory`]),
    ...[...counts].map(([kind, count]) => plural(count, kind === '' ? 'GPU' : `${kind} GPU`)),
    ...Object.entries(capacity.named).map(([name, amount]) => `${amount} ${name}`),
  ].join(', ');
}

function trustPairs(trust: TrustRecord | undefined, machine: MachineRecord | undefined): Pair[] {
  const identity = machine?.facts?.identity;
  if (trust === undefined) {
    const credibility = machine?.credibility === undefined ? '' : machine.credibility.toFixed(4);
    return [
      ['identity', identity ?? ''],
      ['credibility', credibility === '' ? '' : `${credibility}: no vote of it has been compared`],
    ];
  }
  const quarantined: Pair[] =
    trust.quarantinedUnixMs === 0
      ? []
      : [['quarantined', `since ${showInstant(trust.quarantinedUnixMs)}, until its trust record is reset`]];
  return [
    ['identity', trust.identity],
    ['credibility', `${trust.credibility.toFixed(4)}, by ${plural(trust.passes, 'result')} that others confirmed`],
    ...quarantined,
    ...trust.evidence.map((one, index): Pair => [index === 0 ? 'evidence' : '', describeEvidence(one)]),
  ];
}
