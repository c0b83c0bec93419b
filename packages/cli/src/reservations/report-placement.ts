import { ReservationStatus, type Refusal, type Reservation } from '@mutirao/api/reservation';
import { InvariantError } from '@mutirao/core/shared';

import type { CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { placementJson } from '../json/reservation-documents.ts';
import { printResult } from '../output/print-result.ts';
import { getEnumName } from '../wire/names.ts';
import { isOver, refusalLines, reservationPairs, sayReservation } from './show-reservation.ts';

/** What a manager answered to a spec. */
export interface PlacementAnswer {
  readonly outcome:
    | { readonly $case: 'reservation'; readonly value: Reservation }
    | { readonly $case: 'refusal'; readonly value: Refusal }
    | undefined;
  readonly movedCount: number;
  readonly unit: string;
}

/**
 * Prints the result of a request: exit status 0 where it has a place, 3 where there is none, or none any more: of a
 * repeated request that is over.
 */
export function reportPlacement(
  { output }: CommandContext,
  { outcome, movedCount, unit }: PlacementAnswer,
): ExitStatus {
  if (outcome === undefined) throw new InvariantError('the manager gave no answer');
  if (outcome.$case === 'refusal') {
    for (const line of refusalLines(outcome.value, unit)) output.note(line);
    if (output.mode === 'json')
      printResult(output, {
        json: () => placementJson({ refusal: outcome.value, movedCount, unit }),
        table: () => [],
        quiet: () => [],
      });
    return 3;
  }
  const reservation = outcome.value;
  printResult(output, {
    json: () => placementJson({ reservation, movedCount, unit }),
    table: () => reservationPairs(reservation, unit),
    quiet: () => [reservation.reservationId],
  });
  if (!isOver(reservation)) return 0;
  output.note(
    `Reservation ${reservation.reservationId} is ${getEnumName(ReservationStatus, reservation.status)}: ` +
      `${sayReservation(reservation)}. Another key asks for a new one.`,
  );
  return 3;
}
