import type { Command } from 'commander';

import type { Reservation, ReservationSpec } from '@mutirao/api/reservation';
import { InvariantError } from '@mutirao/core/shared';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { managerOption, openManager, readReservationId, resourcesByName } from '../../reservations/show-reservation.ts';
import { reportPlacement } from '../../reservations/report-placement.ts';
import {
  addSpecOptions,
  readAmount,
  readDuration,
  readLimit,
  readTiming,
  checkUnits,
  type SpecOptions,
} from '../../reservations/spec-options.ts';

type Options = SpecOptions & { readonly manager?: string };

export function define(command: Command, act: Act): void {
  addSpecOptions(command.argument('<reservation>', 'number of the reservation').option(...managerOption)).action(
    (reservation: string, options: Options) =>
      act((context) => renegotiate(context, readReservationId(reservation), options)),
  );
}

/**
 * Moves or resizes a reservation; what no option says stays as it is. The old place stands where there is no new one.
 */
export async function renegotiate(
  context: CommandContext,
  reservationId: number,
  options: Options,
): Promise<ExitStatus> {
  const now = context.clock.now();
  const manager = await openManager(context, options.manager);
  const { reservation } = await manager.getReservation({ reservationId });
  if (reservation === undefined) throw new InvariantError('the manager gave no answer');
  const resource = (await resourcesByName(manager)).get(reservation.resourceId);
  checkUnits(options, resource);
  const unit = resource?.unit ?? '';
  const { outcome } = await manager.renegotiateReservation({
    reservationId,
    spec: findSpec(reservation, options, { now, unit }),
  });
  return reportPlacement(context, { outcome, movedCount: 0, unit });
}

function findSpec(
  old: Reservation,
  options: Options,
  { now, unit }: { readonly now: number; readonly unit: string },
): ReservationSpec {
  const { earliestStartUnixMs: from = 0 } = old;
  return {
    resourceId: '',
    amount: readAmount(options) ?? { $case: 'quantity', value: `${old.amount}${unit}` },
    durationMs: options.for === undefined ? old.endUnixMs - old.startUnixMs : readDuration(options.for),
    // A limit that has passed is as good as none.
    earliestStartUnixMs: options.from === undefined ? (from > now ? from : undefined) : readLimit(options.from, now),
    latestEndUnixMs: options.until === undefined ? old.latestEndUnixMs : readLimit(options.until, now),
    timing: readTiming(options),
  };
}
