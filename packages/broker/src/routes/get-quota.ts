import type { GetQuotaRequest, GetQuotaResponse } from '@mutirao/api/broker';
import { encodeQuotaUses } from '@mutirao/api/codecs';
import { listJobQuotas } from '@mutirao/core/machines/broker';
import type { QuotaUse } from '@mutirao/core/quotas';
import type { UserId } from '@mutirao/core/shared';
import type { UnaryHandler } from '@mutirao/runtime/rpc';

import { requireOwner, type BrokerParts } from './broker-parts.ts';

/** What a user takes of the server. */
export type QuotaSource = (userId: UserId) => readonly QuotaUse[];

/** What a user has at the broker, and may have. */
export function getQuotaRoute(
  parts: Pick<BrokerParts, 'driver' | 'blobs' | 'ownerId'>,
  usesOf: QuotaSource,
): UnaryHandler<GetQuotaRequest, GetQuotaResponse> {
  return async ({ userId: asked }, { userId: caller }) => {
    if (asked !== '' && asked !== caller) requireOwner(parts, caller, 'looking at the quotas of others');
    const userId = asked === '' ? caller : asked;
    return {
      userId,
      uses: encodeQuotaUses([
        ...listJobQuotas(parts.driver.state, userId),
        await parts.blobs.usesOf(userId),
        ...usesOf(userId),
      ]),
    };
  };
}
