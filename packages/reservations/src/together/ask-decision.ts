import { decodeDecision } from '@mutirao/api/codecs';
import { ReservationServiceClient } from '@mutirao/api/reservation';
import type { GroupOutcome, GroupLink } from '@mutirao/core/messages';
import { callUnary, dial, type DialOptions } from '@mutirao/runtime/rpc';

const deadlineMs = 3000;

/** Asks a manager what became of several reservations. @throws {MutiraoError} where it does not answer. */
export async function askDecision(
  { manager, groupId, reservationId }: GroupLink,
  options: DialOptions,
  signal: AbortSignal,
): Promise<GroupOutcome> {
  const client = dial(ReservationServiceClient, manager, options);
  try {
    const { decision } = await callUnary(client, 'getGroupOutcome', { groupId, reservationId }, { deadlineMs, signal });
    return decodeDecision(decision);
  } finally {
    client.close();
  }
}
