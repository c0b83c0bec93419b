import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { ReservationStatus, type Reservation } from '@mutirao/api/reservation';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { reservationJson } from '../../json/reservation-documents.ts';
import { printResult } from '../../output/print-result.ts';
import {
  checkResource,
  managerOption,
  openManager,
  reservationTable,
  resourcesByName,
} from '../../reservations/show-reservation.ts';
import { readLimit } from '../../reservations/spec-options.ts';

/** Which reservations are listed. */
export interface ListOptions {
  readonly manager?: string;
  readonly resource?: string;
  readonly status?: string;
  readonly from?: string;
  readonly until?: string;
  readonly all?: true;
  readonly limit: string;
}

const statusWords = Object.entries(ReservationStatus)
  .filter(([, value]) => value !== 0)
  .map(([name]) => name.toLowerCase());
const pageMax = 1000;

export function define(command: Command, act: Act): void {
  command
    .option(...managerOption)
    .option('--resource <name>', 'only reservations of this resource')
    .option(
      '--status <words>',
      'only these states, separated by commas: held, confirmed, claimed, released, expired, cancelled',
    )
    .option('--from <time>', 'only reservations that end after this time')
    .option('--until <time>', 'only reservations that start before this time')
    .option('--all', 'also reservations of other users, for resources that you own')
    .option('--limit <count>', 'list at most this many reservations', '100')
    .action((options: ListOptions) => act((context) => listReservations(context, options)));
}

/** Lists reservations. */
export async function listReservations(context: CommandContext, options: ListOptions): Promise<ExitStatus> {
  const now = context.clock.now();
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1)
    throw new MutiraoError('MUT_BAD_REQUEST', `--limit is "${options.limit}"; expected an integer of 1 or more`);
  const manager = await openManager(context, options.manager);
  const resources = await resourcesByName(manager);
  checkResource(resources, options.resource);
  const filter = {
    resourceId: options.resource ?? '',
    statuses: readStatuses(options.status),
    fromUnixMs: readLimit(options.from, now) ?? 0,
    untilUnixMs: readLimit(options.until, now) ?? 0,
    allUsers: options.all === true,
  };
  const found: Reservation[] = [];
  let before = 0;
  do {
    const page = await manager.listReservations({
      ...filter,
      pageSize: Math.min(limit - found.length, pageMax),
      beforeReservationId: before,
    });
    found.push(...page.reservations);
    // A page that leads back would be asked for again and again.
    before = before === 0 || page.nextBeforeReservationId < before ? page.nextBeforeReservationId : 0;
  } while (before !== 0 && found.length < limit);
  printResult(context.output, {
    json: () => found.map((one) => reservationJson(one, resources.get(one.resourceId)?.unit ?? '')),
    table: () => reservationTable(found, resources, now),
    quiet: () => found.map(({ reservationId }) => reservationId),
  });
  return 0;
}

function readStatuses(text: string | undefined): ReservationStatus[] {
  return (text ?? '')
    .split(',')
    .filter((word) => word !== '')
    .map((word) => {
      const value = Object.entries(ReservationStatus).find(([name]) => name.toLowerCase() === word)?.[1];
      if (value === undefined || value === 0)
        throw new MutiraoError('MUT_BAD_REQUEST', `--status is "${word}"; expected one of ${statusWords.join(', ')}`);
      return value;
    });
}
