import type { Command } from 'commander';

import { decodeCause, encodeReason, reasonDocument, sayReason, type ReasonDocument } from '@mutirao/api/reasons';
import { ReservationStatus, type Reservation } from '@mutirao/api/reservation';
import type { Cause, GetReason, Reason } from '@mutirao/core/reasons';
import { InvariantError } from '@mutirao/core/shared';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import {
  explainAhead,
  isOver,
  localTimes,
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
  printResult(context.output, {
    json: () => ({ summary: document(summary), waiting: null, details: details.map(document) }),
    table: () => [say(summary), ...details.map((detail) => `  - ${say(detail)}`)],
    quiet: () => [say(summary)],
  });
  return 0;
}

function say(reason: Reason): string {
  return sayReason(reason, localTimes);
}

function document(reason: Reason): ReasonDocument {
  return { ...reasonDocument(encodeReason(reason)), text: say(reason) };
}

function findSummary(one: Reservation, now: number): Reason {
  const { reservationId, resourceId, amount, startUnixMs, endUnixMs, endedUnixMs } = one;
  const status = getEnumName(ReservationStatus, one.status) as GetReason<'reservation-waits'>['status'];
  const named = { reservationId, resourceId, amount, status };
  if (isOver(one)) return { code: 'reservation-over-since', ...named, endedUnixMs, cause: findCause(one) };
  return startUnixMs > now
    ? { code: 'reservation-waits', ...named, startMs: startUnixMs - now, startUnixMs }
    : { code: 'reservation-runs', ...named, startUnixMs, leftMs: endUnixMs - now };
}

function findCause({ reason }: Reservation): Cause {
  return decodeCause(reason, 'reservation.reason');
}

function listDetails(one: Reservation): Reason[] {
  return [
    ...(isOver(one) ? [] : [{ code: 'reservation-place', cause: findCause(one) } as const]),
    ...(one.revision === 1 ? [] : [{ code: 'reservation-place-changed', changes: one.revision - 1 } as const]),
    ...explainAhead(one),
  ];
}
