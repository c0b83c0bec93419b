import type { Command } from 'commander';

import { MachineStatus, type MachineRecord } from '@mutirao/api/broker';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { machineJson } from '../../json/documents.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration } from '../../output/units.ts';
import { getEnumName } from '../../wire/names.ts';

export function define(command: Command, act: Act): void {
  command.action(() => act(listMachines));
}

/** Lists the GridMachines that the broker has now. */
export async function listMachines(context: CommandContext): Promise<ExitStatus> {
  const { machines } = await (await context.broker()).listMachines();
  printResult(context.output, {
    json: () => machines.map(machineJson),
    table: () =>
      machines.length === 0
        ? [
            'No machines now. Those of clusters come when there is a job and their allocation starts; see ' +
              '"mutirao request list".',
          ]
        : machineTable(machines, context.clock.now()),
    quiet: () => machines.map((machine) => machine.facts?.machineId ?? ''),
  });
  return 0;
}

function machineTable(machines: readonly MachineRecord[], now: number): string[] {
  return renderTable(
    [
      { title: 'MACHINE' },
      { title: 'STATUS' },
      { title: 'PROCESSORS', right: true },
      { title: 'RUNNING', right: true },
      { title: 'WAITING', right: true },
      { title: 'FINISHED', right: true },
      { title: 'FAILED', right: true },
      { title: 'LEAVES IN', right: true },
      { title: 'CREDIBILITY', right: true },
      { title: 'ATTRIBUTES' },
    ],
    machines.map((machine) => [
      machine.facts?.machineId ?? '',
      getEnumName(MachineStatus, machine.status),
      String(machine.facts?.processors ?? 0),
      String(machine.runningCount),
      String(machine.waitingCount),
      String(machine.finishedCount),
      String(machine.failedCount),
      machine.facts?.untilUnixMs === undefined ? '-' : showDuration(Math.max(0, machine.facts.untilUnixMs - now)),
      machine.credibility === undefined ? '-' : machine.credibility.toFixed(4),
      Object.entries(machine.facts?.attributes ?? {})
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ]),
  );
}
