import { isServing, type ProviderState } from '@mutirao/core/machines/provider';
import { describeProvisioning } from '@mutirao/core/messages';
import { describeInstant, plural } from '@mutirao/core/shared';

/** Reservations that are told of one by one. */
const namedMax = 5;

/** What is held for reservations, in sentences for the provider's owner; nothing where none is. */
export function describeHeld({
  config: { holding },
  windows,
  requests,
  reportedProvisioning,
}: ProviderState): string[] {
  if (holding === undefined || windows.size === 0) return [];
  const lines = [...windows.values()].slice(0, namedMax).map(({ reservationId, count, startsAt }) => {
    const own = [...requests.values()].filter(
      (request) => request.heldFor?.reservationId === reservationId && isServing(request),
    );
    const sum = (status: string): number =>
      own.reduce((total, request) => (request.status === status ? total + request.width : total), 0);
    const ahead = reportedProvisioning.get(reservationId);
    const [, ...more] =
      ahead === undefined ? [] : describeProvisioning(ahead, { count, startsAt, show: describeInstant });
    return [
      `Reservation ${reservationId}: ${sum('running')} of ${plural(count, 'processor')} held, ` +
        `${sum('queued') + sum('submitting')} asked for; best effort.`,
      ...more,
    ].join(' ');
  });
  return [...lines, ...(windows.size > namedMax ? [`${plural(windows.size - namedMax, 'further reservation')}.`] : [])];
}

/** Processors that run for a reservation and that no broker has yet: the price of holding. */
export function countHeldIdle({ requests }: ProviderState): number {
  let held = 0;
  for (const { heldFor, reservation, status, width } of requests.values())
    if (heldFor !== undefined && reservation === undefined && status === 'running') held += width;
  return held;
}
