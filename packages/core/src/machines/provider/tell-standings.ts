import { nameReservation, type ReservationStanding, type ReservedDemand } from '../../messages/index.ts';
import { findWindow } from './decide-held.ts';
import { wantsOf } from './decide-reserved.ts';
import type { Turn } from './turn.ts';

/**
 * Tells each broker how the reservations stand that it wants something inside of, before they begin too, where that is
 * news to it. Cost: O(brokers x wants).
 */
export function tellStandings(turn: Turn): void {
  const {
    state: { config, brokers },
    commands,
  } = turn;
  if (config.holding === undefined) return;
  for (const broker of brokers.values()) {
    const { brokerId, connectionId, standingsTold } = broker;
    const wants = connectionId === 0 ? undefined : wantsOf(turn, broker);
    if (wants === undefined) continue;
    const standings = wants.flatMap((want) => standingOf(turn, want));
    if (standings.length === standingsTold.length && standings.every((one, index) => isSame(one, standingsTold[index])))
      continue;
    broker.standingsTold = standings;
    commands.push({ kind: 'TellStandings', brokerId, standings });
  }
}

/** Nothing for a claim that was not found good, or whose reservation is not known. */
function standingOf({ state }: Turn, want: ReservedDemand): ReservationStanding[] {
  const [window, ahead] = [findWindow(state, want), state.toldAhead.get(want.reservationId)];
  if (window === undefined || ahead === undefined || state.judgements.get(want.claim)?.code !== '') return [];
  const { startsAt, endsAt, count: amount } = window;
  return [{ reservation: nameReservation(want), startsAt, endsAt, amount, ahead }];
}

/** What is held is told anew where it was told anew to the reservation manager. */
function isSame(
  { reservation, startsAt, endsAt, amount, ahead }: ReservationStanding,
  told: ReservationStanding | undefined,
): boolean {
  if (told?.ahead !== ahead || told.reservation.mark !== reservation.mark) return false;
  return told.startsAt === startsAt && told.endsAt === endsAt && told.amount === amount;
}
