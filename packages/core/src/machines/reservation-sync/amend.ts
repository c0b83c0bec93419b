import type { ReservedWindow, SiteReservation } from '../../messages/index.ts';
import type { Instant, ProcessorCount } from '../../shared/index.ts';

/**
 * The change that makes the site's reservation match the promise: `remade` is removed and created again, because it
 * cannot be changed in place.
 */
export type Amendment = 'none' | 'made' | 'moved' | 'remade';

interface SiteFacts {
  readonly now: Instant;
  readonly granularity: ProcessorCount;
  readonly isRounded: boolean;
}

const second = 1000;

/** A reservation as a site's manager can have it: whole seconds, and never less than was promised. */
export function atSite({ reservationId, count, startsAt, endsAt }: ReservedWindow): SiteReservation {
  return {
    reservationId,
    count,
    startsAt: Math.floor(startsAt / second) * second,
    endsAt: Math.ceil(endsAt / second) * second,
  };
}

/**
 * Compares a promised reservation with the one at the site.
 *
 * A reservation that has begun at the site cannot begin later in place, and its processors can never be changed in
 * place: Slurm refuses both.
 *
 * @param granularity processors that the site reserves together at least.
 * @param isRounded the site was asked for this count and takes more, whole nodes for example: then more is right.
 */
export function findAmendment(
  wanted: SiteReservation,
  there: SiteReservation | undefined,
  facts: SiteFacts,
): Amendment {
  if (there === undefined) return 'made';
  const { now } = facts;
  const hasBegun = there.startsAt <= now;
  if (!isAsMany(there, wanted, facts) || (hasBegun && wanted.startsAt > now)) return 'remade';
  const isInTime = there.startsAt === wanted.startsAt || (hasBegun && wanted.startsAt <= now);
  return isInTime && there.endsAt === wanted.endsAt ? 'none' : 'moved';
}

function isAsMany(there: SiteReservation, wanted: SiteReservation, { granularity, isRounded }: SiteFacts): boolean {
  return there.count >= wanted.count && (there.count < wanted.count + granularity || isRounded);
}
