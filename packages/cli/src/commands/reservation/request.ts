import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import type { RequestReservationResponse } from '@mutirao/api/reservation';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { managerOption, openManager, resourcesByName } from '../../reservations/show-reservation.ts';
import { reportPlacement } from '../../reservations/report-placement.ts';
import {
  addSpecOptions,
  readAmount,
  readDuration,
  readHold,
  readLimit,
  readTiming,
  checkUnits,
  type SpecOptions,
} from '../../reservations/spec-options.ts';

/** What is asked for, and how. */
export interface RequestOptions extends SpecOptions {
  readonly manager?: string;
  readonly resource: string;
  readonly hold?: string;
  readonly key?: string;
  readonly dryRun?: true;
}

export function define(command: Command, act: Act): void {
  addSpecOptions(
    command
      .option(...managerOption)
      .optionsGroup('Reserve:')
      .requiredOption('--resource <name>', 'what to reserve, as "mutirao reservation resource list" prints it'),
  )
    .optionsGroup('Reserve:')
    .option('--hold <duration>', 'only hold it for this long; "mutirao reservation confirm" makes it a reservation')
    .option('--key <text>', 'idempotency key: repeating the command with the same key reserves only once')
    .option('--dry-run', 'print the answer, but reserve nothing')
    .action((options: RequestOptions) => act((context) => requestReservation(context, options)));
}

/** Asks for a reservation. */
export async function requestReservation(context: CommandContext, options: RequestOptions): Promise<ExitStatus> {
  const now = context.clock.now();
  const amount = readAmount(options);
  if (amount === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      'nothing says how much; expected --count, --share, --capacity or --processors',
    );
  if (options.for === undefined && options.work === undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', 'nothing says for how long; expected --for, or --work with --processors');
  const manager = await openManager(context, options.manager);
  const resources = await resourcesByName(manager);
  checkUnits(options, resources.get(options.resource));
  const answer = await manager.requestReservation({
    spec: {
      resourceId: options.resource,
      amount,
      durationMs: options.for === undefined ? 0 : readDuration(options.for),
      earliestStartUnixMs: readLimit(options.from, now),
      latestEndUnixMs: readLimit(options.until, now),
      timing: readTiming(options),
    },
    clientRequestId: options.key ?? '',
    holdMs: readHold(options.hold),
    dryRun: options.dryRun === true,
  });
  return reportPlacement(context, { ...answer, unit: resources.get(resourceOf(answer, options))?.unit ?? '' });
}

/**
 * A repeated key answers with what it was of: a reservation of a journal that is older than the specs of its keys may
 * be of another resource.
 */
function resourceOf({ outcome }: RequestReservationResponse, { resource }: RequestOptions): string {
  return outcome?.$case === 'reservation' ? outcome.value.resourceId : resource;
}
