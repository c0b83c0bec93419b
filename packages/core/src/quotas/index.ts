export {
  isMachineQuota,
  isQuotaName,
  quotaKinds,
  quotaNames,
  type MachineQuotaName,
  type QuotaEnforcer,
  type QuotaKind,
  type QuotaName,
  type QuotaUnit,
} from './quota-kinds.ts';
export {
  allowedMachineQuota,
  allowedQuota,
  describeQuotaAmount,
  findMachineQuotaExcess,
  findQuotaExcess,
  noQuotaRules,
  parseQuotas,
  type QuotaExcess,
  type QuotaRule,
  type QuotaRules,
  type QuotaUse,
} from './quotas.ts';
export { RateBucket } from './rate-bucket.ts';
