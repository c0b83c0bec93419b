import { encodeQuotaUses } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { GetQuotaRequest, GetQuotaResponse } from '@mutirao/api/reservation';
import { listReservationQuotas } from '@mutirao/core/machines/reservations';
import type { UnaryHandler } from '@mutirao/runtime/rpc';
import type { ReservationsHost } from './reservations-host.ts';

/** What a user has reserved, and may have. */
export function getQuotaRoute({ state, usesOf }: ReservationsHost): UnaryHandler<GetQuotaRequest, GetQuotaResponse> {
  return ({ userId: asked }, { userId: caller }) => {
    const { ownerId } = state.options;
    if (asked !== '' && asked !== caller && caller !== ownerId)
      throw new MutiraoError(
        'MUT_NOT_OWNER',
        `the quotas of others are for ${ownerId} alone, who owns this manager; you are ${caller}`,
      );
    const userId = asked === '' ? caller : asked;
    return { userId, uses: encodeQuotaUses([...listReservationQuotas(state, userId), ...usesOf(userId)]) };
  };
}
