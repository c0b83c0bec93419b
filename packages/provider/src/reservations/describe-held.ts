import { isServing, type ProviderState } from '@mutirao/core/machines/provider';
import { describeProvisioning } from '@mutirao/core/messages';
import type { Reason } from '@mutirao/core/reasons';

/** Reservations that are listed one by one. */
const namedMax = 5;

/** What is held for reservations, for the provider's owner; nothing where none is. */
export function describeHeld({
  config: { holding },
  windows,
  requests,
  reportedProvisioning,
}: ProviderState): Reason[] {
  if (holding === undefined || windows.size === 0) return [];
  const reasons = [...windows.values()].slice(0, namedMax).flatMap(({ reservationId, count, startsAt }) => {
    const own = [...requests.values()].filter(
      (request) => request.heldFor?.reservationId === reservationId && isServing(request),
    );
    const sum = (status: string): number =>
      own.reduce((total, request) => (request.status === status ? total + request.width : total), 0);
    const ahead = reportedProvisioning.get(reservationId);
    const [, ...more] = ahead === undefined ? [] : describeProvisioning(ahead, { count, startsAt });
    const held: Reason = {
      code: 'pre-acquisition-of-reservation',
      reservationId,
      readyProcessors: sum('running'),
      reservedProcessors: count,
      requestedProcessors: sum('queued') + sum('submitting'),
    };
    return [held, ...more];
  });
  if (windows.size > namedMax) reasons.push({ code: 'further-reservations', reservations: windows.size - namedMax });
  return reasons;
}

/** Processors that run for a reservation and that no broker has yet: the price of holding. */
export function countHeldIdle({ requests }: ProviderState): number {
  let held = 0;
  for (const { heldFor, reservation, status, width } of requests.values())
    if (heldFor !== undefined && reservation === undefined && status === 'running') held += width;
  return held;
}
