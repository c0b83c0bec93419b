import { errorOfRefusal } from '@mutirao/api/errors';
import { parseQuotas, type QuotaRules } from '@mutirao/core/quotas';
import type { UserId } from '@mutirao/core/shared';
import { list } from '../config/index.ts';

/** The option of every server that bounds what users take. */
export const quotaOption = list({
  help:
    'Quota of users other than the owner, or of one user: jobs=500, maria:tasks=5M, blob-bytes=none. ' +
    'docs/reference/configuration.md lists the kinds.',
  placeholder: '[USER:]KIND=AMOUNT',
});

/** Reads the option. @throws {MutiraoError} MUT_BAD_CONFIG */
export function readQuotas(texts: readonly string[], ownerId: UserId): QuotaRules {
  const rules = parseQuotas(texts, ownerId);
  if ('fault' in rules) throw errorOfRefusal({ code: 'MUT_BAD_CONFIG', ...rules }, '--quota is ');
  return rules;
}
