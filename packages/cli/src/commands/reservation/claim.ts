import type { Command } from 'commander';

import { InvariantError } from '@mutirao/core/shared';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { reservationJson } from '../../json/reservation-documents.ts';
import { printResult } from '../../output/print-result.ts';
import { fetchClaim } from '../../reservations/fetch-claim.ts';
import { managerOption, openManager, reservationPairs, resourcesByName } from '../../reservations/show-reservation.ts';

/** Where, and as which user, a claim is shown. */
export interface ClaimOptions {
  readonly manager?: string;
  readonly resource?: string;
  readonly user?: string;
  readonly key?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<reservation>', 'number of the reservation, or its claim as "mutirao reservation show" prints it')
    .option(...managerOption)
    .option('--resource <name>', 'where the claim is shown (default: the resource that it names)')
    .option('--user <name>', 'for resource managers: the user who shows the claim (default: you)')
    .option('--key <text>', 'idempotency key: repeating the command with the same key claims only once')
    .action((reservation: string, options: ClaimOptions) =>
      act((context) => claimReservation(context, reservation, options)),
    );
}

/** Begins the use of a reservation. */
export async function claimReservation(
  context: CommandContext,
  text: string,
  options: ClaimOptions,
): Promise<ExitStatus> {
  const manager = await openManager(context, options.manager);
  const claim = await fetchClaim(text, () => Promise.resolve(manager));
  const { reservation } = await manager.claimReservation({
    claim,
    resourceId: options.resource ?? '',
    userId: options.user ?? '',
    clientRequestId: options.key ?? '',
    reservationId: 0,
  });
  if (reservation === undefined) throw new InvariantError('the manager gave no answer');
  const unit = (await resourcesByName(manager)).get(reservation.resourceId)?.unit ?? '';
  printResult(context.output, {
    json: () => reservationJson(reservation, unit),
    table: () => reservationPairs(reservation, unit),
    quiet: () => [reservation.reservationId],
  });
  return 0;
}
