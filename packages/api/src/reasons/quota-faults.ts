import { describeQuotaAmount, isQuotaName } from '@mutirao/core/quotas';

import type { Catalogue } from './catalogue.ts';
import { suggest } from './numbers.ts';
import { quotaTexts } from './quota-texts.ts';

/** Why a quota does not allow something, or a rule about one cannot be read. */
export const quotaFaults = {
  'user-quota-exceeded': ({ quota, allowed, used, more, resourceId }) =>
    `${resourceId === undefined ? '' : `${resourceId}: `}your quota "${quota}"${counted(quota)} is ` +
    `${show(quota, allowed)}; you have ${show(quota, used)}${more === 0 ? '' : ` and ask for ${show(quota, more)} more`}` +
    advice(quota),
  'machine-quota-exceeded': ({ quota, allowed, times, used, more }) =>
    `the quota "${quota}"${counted(quota)} is ${times === 1 ? '' : `${times} times `}${show(quota, allowed)}; ` +
    `${show(quota, used)} are used, and ${show(quota, more)} more are requested${advice(quota)}`,
  'quota-rule-unreadable': ({ text }) =>
    `"${text}"; expected KIND=AMOUNT or USER:KIND=AMOUNT, for example jobs=500 or maria:tasks=5M`,
  'quota-unknown': ({ text, name, nearest, names }) =>
    `"${text}"; there is no quota "${name}", ${suggest(nearest, names)}`,
  'quota-per-machine': ({ text, name, amount }) =>
    `"${text}"; each machine has its own "${name}", whoever owns it: expected ${name}=${amount}`,
  'quota-amount-unreadable': ({ text, name }) => `"${text}"; expected an amount such as 500, 5M or none for ${name}`,
} satisfies Partial<Catalogue>;

/** A quota of another release has no text here. */
function counted(quota: string): string {
  return isQuotaName(quota) ? ` (${quotaTexts[quota].of})` : '';
}

function advice(quota: string): string {
  return isQuotaName(quota) ? `; ${quotaTexts[quota].advice}` : '';
}

function show(quota: string, amount: number): string {
  return isQuotaName(quota) ? describeQuotaAmount(quota, amount) : String(amount);
}
