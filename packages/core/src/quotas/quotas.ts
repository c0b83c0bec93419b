import type { Fault, GetReason } from '../reasons/index.ts';
import { describeBytes, findNearestWord, type UserId } from '../shared/index.ts';
import {
  isMachineQuota,
  isQuotaName,
  quotaKinds,
  quotaNames,
  type MachineQuotaName,
  type QuotaName,
} from './quota-kinds.ts';

/** What one user has of something, and may have. */
export interface QuotaUse {
  readonly name: QuotaName;
  readonly used: number;
  /** Infinity for no quota. */
  readonly allowed: number;
}

/** More than a quota allows. */
type UserExcess = GetReason<'user-quota-exceeded'>;
type MachineExcess = GetReason<'machine-quota-exceeded'>;

/** Why something is not allowed. */
export interface QuotaExcess<Excess = UserExcess | MachineExcess> {
  readonly name: QuotaName;
  /** Includes the amounts that were asked for, are used and are allowed. */
  readonly fault: Excess;
}

/** A rule of the configuration. */
export interface QuotaRule {
  /** The user that the rule is for; empty for everybody but the owner. */
  readonly userId: UserId;
  readonly name: QuotaName;
  /** Undefined for no quota. */
  readonly amount?: number;
}

/** What users may have. The owner may have everything, unless a rule names the owner. Plain data, as traces keep it. */
export interface QuotaRules {
  readonly ownerId: UserId;
  /** Later ones win; those that name a user win over the others. */
  readonly rules: readonly QuotaRule[];
}

/** Rules that allow everything to everybody: of tests and simulations, which have no owner. */
export const noQuotaRules: QuotaRules = { ownerId: '', rules: quotaNames.map((name) => ({ userId: '', name })) };

/**
 * Reads rules such as `jobs=500`, `maria:tasks=5M` or `maria:blob-bytes=none`.
 *
 * @returns the rules, or what is wrong with one.
 */
export function parseQuotas(texts: readonly string[], ownerId: UserId): QuotaRules | { readonly fault: Fault } {
  const rules: QuotaRule[] = [];
  for (const text of texts) {
    const rule = parseRule(text);
    if ('fault' in rule) return rule;
    rules.push(rule);
  }
  return { ownerId, rules };
}

/** What a user may have; Infinity for no quota. */
export function allowedQuota({ ownerId, rules }: QuotaRules, userId: UserId, name: QuotaName): number {
  const rule =
    rules.findLast((one) => one.name === name && one.userId === userId) ??
    (userId === ownerId ? undefined : rules.findLast((one) => one.name === name && one.userId === ''));
  if (rule !== undefined) return rule.amount ?? Infinity;
  return userId === ownerId ? Infinity : quotaKinds[name].usual;
}

/** Why a user may not have `more` in addition to `used`; undefined if it is allowed. */
export function findQuotaExcess(
  rules: QuotaRules,
  userId: UserId,
  { name, used, more }: { readonly name: QuotaName; readonly used: number; readonly more: number },
): QuotaExcess<UserExcess> | undefined {
  const allowed = allowedQuota(rules, userId, name);
  if (used + more <= allowed) return undefined;
  return { name, fault: { code: 'user-quota-exceeded', quota: name, allowed, used, more } };
}

/** What each machine may have of something; Infinity for no quota. Whose machine it is makes no difference. */
export function allowedMachineQuota({ rules }: QuotaRules, name: MachineQuotaName): number {
  const rule = rules.findLast((one) => one.name === name);
  return rule === undefined ? quotaKinds[name].usual : (rule.amount ?? Infinity);
}

/**
 * Why a machine may not have `more` in addition to `used`; undefined if it is allowed. @param times multiplies the
 * quota of a single machine, or task.
 */
export function findMachineQuotaExcess(
  rules: QuotaRules,
  {
    name,
    used,
    more,
    times,
  }: { readonly name: MachineQuotaName; readonly used: number; readonly more: number; readonly times: number },
): QuotaExcess<MachineExcess> | undefined {
  const each = allowedMachineQuota(rules, name);
  if (used + more <= each * times) return undefined;
  return { name, fault: { code: 'machine-quota-exceeded', quota: name, allowed: each, times, used, more } };
}

function parseRule(text: string): QuotaRule | { readonly fault: Fault } {
  const match = /^(?:([^:=]+):)?([a-z-]+)=([^=]+)$/.exec(text);
  if (match === null) return { fault: { code: 'quota-rule-unreadable', text } };
  const [, userId = '', name = '', amountText = ''] = match;
  if (!isQuotaName(name)) {
    const nearest = findNearestWord(name, quotaNames);
    return {
      fault: { code: 'quota-unknown', text, name, ...(nearest === undefined ? {} : { nearest }), names: quotaNames },
    };
  }
  return parseAmount(text, { userId, name, amountText });
}

function parseAmount(
  text: string,
  { userId, name, amountText }: { readonly userId: UserId; readonly name: QuotaName; readonly amountText: string },
): QuotaRule | { readonly fault: Fault } {
  if (userId !== '' && isMachineQuota(name))
    return { fault: { code: 'quota-per-machine', text, name, amount: amountText } };
  if (amountText === 'none') return { userId, name };
  const amount = readAmount(amountText, name);
  return amount === undefined ? { fault: { code: 'quota-amount-unreadable', text, name } } : { userId, name, amount };
}

/** Reads `500`, `5M` or `64G`. Units of bytes are powers of 1024, others of 1000. */
function readAmount(text: string, name: QuotaName): number | undefined {
  const match = /^(\d{1,15})([KMGT]?)$/i.exec(text);
  if (match === null) return undefined;
  const factor = quotaKinds[name].unit === 'bytes' ? 1024 : 1000;
  return Number(match[1]) * factor ** ' KMGT'.indexOf((match[2] ?? '').toUpperCase() || ' ');
}

/** An amount of a quota for people. */
export function describeQuotaAmount(name: QuotaName, amount: number): string {
  if (amount === Infinity) return 'no limit';
  const { unit } = quotaKinds[name];
  if (unit === 'bytes') return describeBytes(amount);
  const rounded = Number.isInteger(amount) ? String(amount) : amount.toFixed(1);
  return unit === 'hours' ? `${rounded} h` : rounded;
}
