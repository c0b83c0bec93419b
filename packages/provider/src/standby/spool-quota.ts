import { MutiraoError } from '@mutirao/api/errors';
import type { BrokerId, ProviderState } from '@mutirao/core/machines/provider';
import { allowedQuota, findQuotaExcess, type QuotaRules, type QuotaUse } from '@mutirao/core/quotas';
import type { Bytes, UserId } from '@mutirao/core/shared';
import type { OutputSpool } from '../spool/output-spool.ts';
import { userOfBroker } from '../user-of-broker.ts';

/** What a spool quota is worked out from. */
export interface SpoolQuotaOptions {
  readonly state: Pick<ProviderState, 'brokers'>;
  readonly outputs: Pick<OutputSpool, 'getBytes'>;
  readonly ownerId: UserId;
  readonly quotas: QuotaRules;
}

/** How many bytes of outputs each user may have kept at a provider, for all of the user's brokers together. */
export class SpoolQuota {
  readonly #options: SpoolQuotaOptions;

  constructor(options: SpoolQuotaOptions) {
    this.#options = options;
  }

  /** @throws {MutiraoError} MUT_SPOOL_FULL: the output waits at its machine then. */
  demand(brokerId: BrokerId, more: Bytes): void {
    const { quotas, ownerId } = this.#options;
    const userId = userOfBroker(brokerId, ownerId);
    if (allowedQuota(quotas, userId, 'spool-bytes') === Infinity) return;
    const excess = findQuotaExcess(quotas, userId, { name: 'spool-bytes', used: this.#usedBy(userId), more });
    if (excess !== undefined) throw new MutiraoError('MUT_SPOOL_FULL', excess.message);
  }

  /** What a user has kept, and may have. */
  useOf(userId: UserId): QuotaUse {
    return {
      name: 'spool-bytes',
      used: this.#usedBy(userId),
      allowed: allowedQuota(this.#options.quotas, userId, 'spool-bytes'),
    };
  }

  #usedBy(userId: UserId): Bytes {
    const { state, outputs, ownerId } = this.#options;
    let used = 0;
    for (const { brokerId } of state.brokers.values())
      if (userOfBroker(brokerId, ownerId) === userId) used += outputs.getBytes(brokerId);
    return used;
  }
}
