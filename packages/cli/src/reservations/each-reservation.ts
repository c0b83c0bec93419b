import type { Command } from 'commander';

import type { Reservation } from '@mutirao/api/reservation';

import type { ReservationClient } from '@mutirao/runtime/clients';
import { actOnAll } from '../act-on-each.ts';
import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { reservationJson } from '../json/reservation-documents.ts';
import { printResult } from '../output/print-result.ts';
import {
  managerOption,
  openManager,
  readReservationId,
  reservationPairs,
  resourcesByName,
} from './show-reservation.ts';

/** Does something with one reservation, and answers how it is then. */
type ActOnOne<Options> = (
  manager: ReservationClient,
  reservationId: number,
  options: Options,
) => Promise<{ readonly reservation?: Reservation | undefined }>;

/** Makes `define` of a command that does the same with each reservation that is named. */
export function defineForEach<Options extends { readonly manager?: string }>(
  addOptions: (command: Command) => Command,
  actOnOne: ActOnOne<Options>,
): (command: Command, act: Act) => void {
  return (command, act) => {
    addOptions(command.argument('<reservations...>', 'numbers of reservations').option(...managerOption)).action(
      (reservations: string[], options: Options) =>
        act((context) => actOnEach(context, { reservations, options, actOnOne })),
    );
  };
}

interface EachOf<Options> {
  readonly reservations: readonly string[];
  readonly options: Options;
  readonly actOnOne: ActOnOne<Options>;
}

async function actOnEach<Options extends { readonly manager?: string }>(
  context: CommandContext,
  { reservations, options, actOnOne }: EachOf<Options>,
): Promise<ExitStatus> {
  const ids = reservations.map(readReservationId);
  const manager = await openManager(context, options.manager);
  const { done, failure } = await actOnAll(ids, (id) => actOnOne(manager, id, options));
  const found = done.flatMap(({ reservation }) => reservation ?? []);
  const resources = await resourcesByName(manager);
  const getUnit = ({ resourceId }: Reservation): string => resources.get(resourceId)?.unit ?? '';
  printResult(context.output, {
    json: () => found.map((one) => reservationJson(one, getUnit(one))),
    table: () => found.flatMap((one, index) => [...(index === 0 ? [] : ['']), ...reservationPairs(one, getUnit(one))]),
    quiet: () => found.map(({ reservationId }) => reservationId),
  });
  if (failure !== undefined) throw failure;
  return 0;
}
