import { MutiraoError } from '@mutirao/api/errors';

import type { ReservationClient } from '@mutirao/runtime/clients';
import type { CommandContext } from '../context.ts';
import { managerAddress } from './show-reservation.ts';

/** One of several resources to reserve together. */
export interface GroupPart {
  /** As the user wrote it. */
  readonly text: string;
  readonly resourceId: string;
  /** As people write an amount: `4`, `30%`, `200KB/s`. */
  readonly quantity: string;
  /** Empty for the usual one. */
  readonly managerName: string;
  /** Where its manager is. */
  readonly address: string;
  readonly manager: ReservationClient;
}

/** Reads `RESOURCE=AMOUNT` or `RESOURCE=AMOUNT@MANAGER`. @throws {MutiraoError} MUT_BAD_REQUEST */
export async function readParts(
  context: CommandContext,
  texts: readonly string[],
  usual: string | undefined,
): Promise<GroupPart[]> {
  if (texts.length < 2)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${texts.length} resource is given; expected two or more, each as RESOURCE=AMOUNT or RESOURCE=AMOUNT@MANAGER`,
    );
  const managers = new Map<string, Promise<ReservationClient>>();
  const parts = texts.map(async (text): Promise<GroupPart> => {
    const [, resourceId, quantity, managerName = ''] = /^([^=@\s]+)=([^@\s]+)(?:@(\S+))?$/.exec(text) ?? [];
    if (resourceId === undefined || quantity === undefined)
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `"${text}" is not a resource with an amount; expected RESOURCE=AMOUNT or RESOURCE=AMOUNT@MANAGER, as in ` +
          'alpha=4 or net=30%@10.0.0.7:7000',
      );
    const address = managerAddress(context, managerName === '' ? usual : managerName);
    const manager = managers.get(address) ?? context.reservations(address);
    managers.set(address, manager);
    return { text, resourceId, quantity, managerName, address, manager: await manager };
  });
  return Promise.all(parts);
}

/** How a command says again where a reservation is. */
export function managerWords({ managerName }: GroupPart): string {
  return managerName === '' ? '' : ` --manager ${managerName}`;
}
