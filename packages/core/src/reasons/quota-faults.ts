import type { ReasonTable } from './parameters.ts';

/** Why a quota does not allow something, or a rule about one cannot be read. */
export const quotaFaults = {
  'user-quota-exceeded': { quota: 'text', allowed: 'number', used: 'number', more: 'number', resourceId: 'text?' },
  'machine-quota-exceeded': { quota: 'text', allowed: 'number', times: 'number', used: 'number', more: 'number' },
  'quota-rule-unreadable': { text: 'text' },
  'quota-unknown': { text: 'text', name: 'text', nearest: 'text?', names: 'texts' },
  'quota-per-machine': { text: 'text', name: 'text', amount: 'text' },
  'quota-amount-unreadable': { text: 'text', name: 'text' },
} as const satisfies ReasonTable;
