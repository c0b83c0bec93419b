import { decodeDecision } from '@mutirao/api/codecs';
import { ReservationServiceClient } from '@mutirao/api/reservation';
import type { TogetherDecision, TogetherLink } from '@mutirao/core/messages';
import { callUnary, dial, type DialOptions } from '@mutirao/runtime/rpc';

const deadlineMs = 3000;

/** Asks a manager what became of several reservations. @throws {MutiraoError} where it does not answer. */
export async function askDecision(
  { manager, togetherId, reservationId }: TogetherLink,
  options: DialOptions,
  signal: AbortSignal,
): Promise<TogetherDecision> {
  const client = dial(ReservationServiceClient, manager, options);
  try {
    const { decision } = await callUnary(
      client,
      'getTogetherDecision',
      { togetherId, reservationId },
      { deadlineMs, signal },
    );
    return decodeDecision(decision);
  } finally {
    client.close();
  }
}
