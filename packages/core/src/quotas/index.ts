export { isQuotaName, quotaKinds, quotaNames, type QuotaKeeper, type QuotaKind, type QuotaName, type QuotaUnit } from './quota-kinds.ts';
export { allowedQuota, describeQuotaAmount, findQuotaExcess, noQuotaRules, parseQuotas, type QuotaExcess, type QuotaRule, type QuotaRules, type QuotaUse } from './quotas.ts';
export { RateBucket } from './rate-bucket.ts';
