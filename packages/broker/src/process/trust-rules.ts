import { createHash } from 'node:crypto';
import { defaultBrokerOptions, type TrustRules } from '@mutirao/core/machines/broker';

/**
 * Whom a broker with that token trusts: as by default, with spot checks that nobody can foresee who does not know the
 * token.
 *
 * The same after each start, so that a task does not cease to be a spot check while its result is held for one. The
 * token cannot be
 * told from it.
 */
export function getTrustRules(token: string): TrustRules {
  const { trust } = defaultBrokerOptions;
  const secret = createHash('sha256').update(`spot checks ${token}`).digest('base64url');
  return { ...trust, spotCheck: { ...trust.spotCheck, secret } };
}
