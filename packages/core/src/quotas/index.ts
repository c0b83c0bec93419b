export { isQuotaName, quotaKinds, quotaNames, type QuotaKeeper, type QuotaKind, type QuotaName, type QuotaUnit } from './quota-kinds.ts';
export { describeQuotaAmount, Quotas, type QuotaExcess, type QuotaUse } from './quotas.ts';
export { RateBucket } from './rate-bucket.ts';
