import type { Command } from 'commander';

import type { ReasonDocument } from '@mutirao/api/reasons';
import { ReservationStatus, type Reservation } from '@mutirao/api/reservation';
import { InvariantError } from '@mutirao/core/shared';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { tell } from '../../output/tell.ts';
import { showDuration, showInstant } from '../../output/units.ts';
import {
  findAhead,
  isOver,
  managerOption,
  openManager,
  readReservationId,
} from '../../reservations/show-reservation.ts';
import { getEnumName } from '../../wire/names.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<id>', 'number of the reservation')
    .option(...managerOption)
    .action((id: string, { manager }: { readonly manager?: string }) =>
      act((context) => explainReservation(context, readReservationId(id), manager)),
    );
}

/** Explains the interval of a reservation, and how likely its pre-acquired allocations start in time. */
async function explainReservation(
  context: CommandContext,
  reservationId: number,
  managerName: string | undefined,
): Promise<ExitStatus> {
  const { reservation } = await (await openManager(context, managerName)).getReservation({ reservationId });
  if (reservation === undefined) throw new InvariantError('the manager gave no answer');
  const summary = findSummary(reservation, context.clock.now());
  const details = listDetails(reservation);
  tell(context.output, {
    json: () => ({ summary: sentence(summary), waiting: null, details: details.map(sentence) }),
    table: () => [summary, ...details.map((detail) => `  - ${detail}`)],
    quiet: () => [summary],
  });
  return 0;
}

/** What has no code yet. */
function sentence(text: string): ReasonDocument {
  return { code: '', parameters: {}, text };
}

function findSummary(one: Reservation, now: number): string {
  const { reservationId, resourceId, amount, status, startUnixMs: start, endUnixMs: end, endedUnixMs: ended } = one;
  const what = `Reservation ${reservationId} of ${amount} of ${resourceId} is ${getEnumName(ReservationStatus, status)}`;
  if (isOver(one)) return `${what} since ${showInstant(ended)}: ${one.reason}.`;
  return start > now
    ? `${what} and begins in ${showDuration(start - now)}, at ${showInstant(start)}.`
    : `${what}, began at ${showInstant(start)} and ends in ${showDuration(end - now)}.`;
}

function listDetails(one: Reservation): string[] {
  const revised =
    one.revision === 1
      ? []
      : [
          `Its place has changed ${one.revision === 2 ? 'once' : `${one.revision - 1} times`}; a claim of ` +
            'before is no longer valid.',
        ];
  return [...(isOver(one) ? [] : [`It is where it is since: ${one.reason}.`]), ...revised, ...findAhead(one)];
}
