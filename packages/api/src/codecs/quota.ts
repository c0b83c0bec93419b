import type { QuotaUse } from '@mutirao/core/quotas';
import type { QuotaUse as QuotaUseWire } from '../common.ts';

/** Writes what a user has and may have. No quota is written as absent. */
export function encodeQuotaUses(uses: readonly QuotaUse[]): QuotaUseWire[] {
  return uses.map(({ name, used, allowed }) => ({ kind: name, used, allowed: allowed === Infinity ? undefined : allowed }));
}
