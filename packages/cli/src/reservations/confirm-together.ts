import { MutiraoError } from '@mutirao/api/errors';
import type { Reservation } from '@mutirao/api/reservation';
import type { Duration } from '@mutirao/core/shared';

import type { CommandContext } from '../context.ts';
import { letGo, type HeldPart } from './hold-together.ts';
import { managerWords } from './parts.ts';

/** Pause before a confirmation of which nobody knows whether it was taken is asked for again. */
const repeatPause: Duration = 1000;

/** Codes after which nobody knows. */
const unclear: ReadonlySet<string> = new Set(['MUT_UNREACHABLE', 'MUT_DEADLINE_EXCEEDED', 'MUT_INTERNAL', 'MUT_STOPPING', 'MUT_OVERLOADED']);

/** What came of one confirmation. */
type Confirmation =
  | { readonly kind: 'confirmed'; readonly reservation: Reservation }
  | { readonly kind: 'failed'; readonly isKnown: boolean; readonly error: MutiraoError };

/**
 * Confirms all that is held, or gives all of it back.
 *
 * A manager that does not answer is asked again until its hold lapses; then what the others confirmed is cancelled. Since it may have taken the confirmation and died before it
 * said so, the error names what may stand there, and how to cancel it.
 *
 * @throws {MutiraoError} MUT_NOT_TOGETHER
 */
export async function confirmTogether(context: CommandContext, held: readonly HeldPart[]): Promise<Reservation[]> {
  const outcomes = await Promise.all(held.map((one) => confirmOne(context, one)));
  const confirmed = outcomes.flatMap((outcome) => (outcome.kind === 'confirmed' ? [outcome.reservation] : []));
  if (confirmed.length === held.length) return confirmed;
  const lost = held.filter((_one, index) => isUnclear(outcomes[index]));
  await letGo(held);
  const reasons = outcomes.flatMap((outcome, index) => (outcome.kind === 'failed' ? [`${held[index]?.part.text ?? ''} was not confirmed (${outcome.error.code} ${outcome.error.message})`] : []));
  const left = lost.map(({ part, reservation: { reservationId } }) => `"mutirao reservation cancel ${reservationId}${managerWords(part)}"`);
  const rest = left.length === 0 ? '' : `; what may stand there is given back by ${left.join(', ')}`;
  throw new MutiraoError('MUT_NOT_TOGETHER', `${reasons.join('; ')}, and the others are given back${rest}`);
}

function isUnclear(outcome: Confirmation | undefined): boolean {
  return outcome?.kind === 'failed' && !outcome.isKnown;
}

async function confirmOne(context: CommandContext, { part, reservation }: HeldPart): Promise<Confirmation> {
  for (;;) {
    try {
      const { reservation: confirmed } = await part.manager.confirmReservation({ reservationId: reservation.reservationId });
      return { kind: 'confirmed', reservation: confirmed ?? reservation };
    } catch (error) {
      if (!(error instanceof MutiraoError)) throw error;
      const isKnown = !unclear.has(error.code);
      // The hold has lapsed by then, unless it was confirmed.
      if (isKnown || context.signal.aborted || context.clock.now() >= reservation.holdUntilUnixMs) return { kind: 'failed', isKnown, error };
    }
    await context.sleep(repeatPause);
  }
}
