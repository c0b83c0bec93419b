import { nameReservation, type ReservedStatus, type ReservedDemand } from '../../messages/index.ts';
import { findWindow } from './decide-held.ts';
import { findWants } from './decide-reserved.ts';
import type { Turn } from './turn.ts';

/**
 * Reports to each broker the status of the reservations that it demands something inside of, also before they begin, if
 * it has changed. Cost: O(brokers x wants).
 */
export function reportStatuses(turn: Turn): void {
  const {
    state: { config, brokers },
    commands,
  } = turn;
  if (config.holding === undefined) return;
  for (const broker of brokers.values()) {
    const { brokerId, connectionId, statusesReported } = broker;
    const wants = connectionId === 0 ? undefined : findWants(turn, broker);
    if (wants === undefined) continue;
    const statuses = wants.flatMap((want) => statusOf(turn, want));
    if (
      statuses.length === statusesReported.length &&
      statuses.every((one, index) => isSame(one, statusesReported[index]))
    )
      continue;
    broker.statusesReported = statuses;
    commands.push({ kind: 'ReportStatuses', brokerId, statuses });
  }
}

/** Nothing for a claim that was not found good, or whose reservation is not known. */
function statusOf({ state }: Turn, want: ReservedDemand): ReservedStatus[] {
  const [window, ahead] = [findWindow(state, want), state.reportedProvisioning.get(want.reservationId)];
  if (window === undefined || ahead === undefined || state.judgements.get(want.claim)?.code !== '') return [];
  const { startsAt, endsAt, count: amount } = window;
  return [{ reservation: nameReservation(want), startsAt, endsAt, amount, ahead }];
}

/** A status is sent again when the reservation manager was sent a new report of its allocation. */
function isSame(
  { reservation, startsAt, endsAt, amount, ahead }: ReservedStatus,
  reported: ReservedStatus | undefined,
): boolean {
  if (reported?.ahead !== ahead || reported.reservation.mark !== reservation.mark) return false;
  return reported.startsAt === startsAt && reported.endsAt === endsAt && reported.amount === amount;
}
