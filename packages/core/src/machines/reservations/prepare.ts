import type { ReservationRecord, GroupOutcome, GroupLink } from '../../messages/index.ts';
import type { Refusal } from '../../reasons/index.ts';
import type { Instant } from '../../shared/index.ts';
import type { ReservationsInput } from './inputs.ts';
import { answer, over, put } from './lifecycle.ts';
import { findOwn } from './owners.ts';
import type { ReservationsState } from './state.ts';
import type { Turn } from './turn.ts';

type GetInput<K extends ReservationsInput['kind']> = Extract<ReservationsInput, { kind: K }>;

/**
 * Has a hold stand or fall with another reservation, of this manager or another one.
 *
 * The one that decides keeps the end of its hold, so that a client that dies has decided nothing. The others wait for
 * it beyond the end of theirs: until
 * their start, or for as long as may be held.
 */
export function prepare(turn: Turn, input: GetInput<'PrepareRequested'>): void {
  const { together } = input;
  answer(turn, input.replyTo, findOwn(turn.state, input), (known) => {
    if (isSame(known.together, together) && known.status !== 'expired' && known.status !== 'cancelled') return known;
    const fault = findFault(known);
    if (fault !== undefined) return fault;
    const isDeciding = together.manager === '' && together.reservationId === known.place.id;
    return put(turn, 'held', { ...known, together, holdUntil: isDeciding ? known.holdUntil : prepareEnd(turn, known) });
  });
}

function isSame(one: GroupLink | undefined, other: GroupLink): boolean {
  return one?.groupId === other.groupId && one.manager === other.manager && one.reservationId === other.reservationId;
}

function findFault({ status, together, place: { id } }: ReservationRecord): Refusal | undefined {
  if (status === 'confirmed' || status === 'claimed')
    return { code: 'MUT_BAD_REQUEST', fault: { code: 'group-member-confirmed', reservationId: id, status } };
  if (status !== 'held')
    return { code: 'MUT_RESERVATION_OVER', fault: { code: 'reservation-over', reservationId: id, status } };
  return together === undefined
    ? undefined
    : {
        code: 'MUT_BAD_REQUEST',
        fault: { code: 'group-member-taken', reservationId: id },
      };
}

function prepareEnd({ now, state }: Turn, { holdUntil, place }: ReservationRecord): Instant {
  return Math.max(holdUntil, Math.min(place.start, now + state.options.holdMax));
}

/** Confirms a prepared reservation or gives it back; one that has been decided on is left so. */
export function onDecision(turn: Turn, { reservationId, groupId, isConfirmed }: GetInput<'GroupDecided'>): void {
  const known = turn.state.reservations.get(reservationId);
  if (known?.status !== 'held' || known.together?.groupId !== groupId) return;
  if (isConfirmed) put(turn, 'confirmed', { ...known, status: 'confirmed', holdUntil: 0 });
  else
    put(turn, 'cancelled', over(turn, known, { status: 'cancelled', reason: { code: 'reservation-group-aborted' } }));
}

/** What became of reservations that stand or fall with one of this manager's. */
export function getDecision(
  { reservations }: ReservationsState,
  { groupId, reservationId }: Pick<GroupLink, 'groupId' | 'reservationId'>,
): GroupOutcome {
  const known = reservations.get(reservationId);
  // An address may lead to another manager than was meant; only what is known decides.
  if (
    known?.together?.groupId !== groupId ||
    known.together.reservationId !== reservationId ||
    known.together.manager !== ''
  )
    return 'unknown';
  if (known.status === 'held') return 'open';
  return known.status === 'expired' || known.status === 'cancelled' ? 'aborted' : 'committed';
}
