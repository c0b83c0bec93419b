import { createHash } from 'node:crypto';
import { defaultBrokerOptions, type TrustRules } from '@mutirao/core/machines/broker';

/**
 * The trust rules of a broker: the defaults, with spot checks that nobody without its token can foresee.
 *
 * They are the same after each start, so that a task does not cease to be a spot check while its result is held for
 * one.
 * The token cannot be derived from the secret.
 */
export function getTrustRules(token: string): TrustRules {
  const { trust } = defaultBrokerOptions;
  const secret = createHash('sha256').update(`spot checks ${token}`).digest('base64url');
  return { ...trust, spotCheck: { ...trust.spotCheck, secret } };
}
