import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import type { TrustEvidence, TrustRecord } from '@mutirao/api/broker';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { trustJson } from '../../json/documents.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showInstant } from '../../output/units.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('[machine]', 'name of the machine, now or earlier, or its identity (default: all)')
    .action((machine: string | undefined) => act((context) => showTrust(context, machine)));
}

/** Shows what machines have done for their trust, those that were caught first. */
export async function showTrust(context: CommandContext, machine: string | undefined): Promise<ExitStatus> {
  const { records } = await (await context.broker()).listTrust();
  const chosen =
    machine === undefined
      ? records
      : records.filter(({ identity, machineId }) => identity === machine || machineId === machine);
  if (machine !== undefined && chosen.length === 0)
    throw new MutiraoError(
      'MUT_NOT_FOUND',
      `nothing is known of a machine ${machine}; no vote of it has been compared`,
    );
  printResult(context.output, {
    json: () => chosen.map(trustJson),
    table: () =>
      chosen.length === 0
        ? ['No machine has a record yet: votes make them (docs/guides/trust.md).']
        : trustLines(chosen),
    quiet: () => chosen.map(({ machineId }) => machineId),
  });
  return 0;
}

function trustLines(records: readonly TrustRecord[]): string[] {
  const table = renderTable(
    [
      { title: 'MACHINE' },
      { title: 'IDENTITY' },
      { title: 'PASSED', right: true },
      { title: 'CREDIBILITY', right: true },
      { title: 'QUARANTINED' },
    ],
    records.map(({ machineId, identity, passes, credibility, quarantinedUnixMs }) => [
      machineId,
      identity,
      String(passes),
      credibility.toFixed(4),
      quarantinedUnixMs === 0 ? '-' : showInstant(quarantinedUnixMs),
    ]),
  );
  return [
    ...table,
    ...records.flatMap(({ machineId, evidence }) => evidence.map((one) => `${machineId}: ${describeEvidence(one)}`)),
  ];
}

/** A piece of evidence, for people. */
export function describeEvidence({
  kind,
  atUnixMs,
  jobId,
  taskIndex,
  digest,
  acceptedDigest,
  against,
  detail,
}: TrustEvidence): string {
  const when = showInstant(atUnixMs);
  const words = detail?.text ?? '';
  if (kind === 'outvoted') {
    return (
      `${when} task ${taskIndex} of job ${jobId}: brought ${digest.slice(0, 12)}, taken was ` +
      `${acceptedDigest.slice(0, 12)} of ${against.join(' and ')}; ${words}`
    );
  }
  if (kind !== 'word') return `${when}${jobId === 0 ? '' : ` task ${taskIndex} of job ${jobId}`}: ${words}`;
  return `${when} by word: ${words === '' ? 'no reason given' : words}`;
}
