import { describeBytes, findNearestWord, type UserId } from '../shared/index.ts';
import { isQuotaName, quotaKinds, quotaNames, type QuotaName } from './quota-kinds.ts';

/** What one user has of something, and may have. */
export interface QuotaUse {
  readonly name: QuotaName;
  readonly used: number;
  /** Infinity for no quota. */
  readonly allowed: number;
}

/** Why something is not allowed. */
export interface QuotaExcess {
  readonly name: QuotaName;
  /** One sentence with what was asked, what is used, what is allowed, and what to do. */
  readonly message: string;
}

/** What users may have. The owner may have everything, unless a rule names the owner. */
export class Quotas {
  readonly #ownerId: UserId;
  /** By kind, for all users that no rule names. */
  readonly #common = new Map<QuotaName, number>();
  /** By user and kind. */
  readonly #own = new Map<UserId, Map<QuotaName, number>>();

  private constructor(ownerId: UserId) {
    this.#ownerId = ownerId;
  }

  /**
   * Reads rules such as `jobs=500`, `maria:tasks=5M` or `maria:blob-bytes=none`. Later rules win.
   *
   * @returns the quotas, or what is wrong with a rule.
   */
  static parse(rules: readonly string[], ownerId: UserId): Quotas | { readonly fault: string } {
    const quotas = new Quotas(ownerId);
    for (const rule of rules) {
      const fault = quotas.#add(rule);
      if (fault !== undefined) return { fault };
    }
    return quotas;
  }

  /** What a user may have; Infinity for no quota. */
  allowed(userId: UserId, name: QuotaName): number {
    const own = this.#own.get(userId)?.get(name);
    if (own !== undefined) return own;
    return userId === this.#ownerId ? Infinity : this.#common.get(name) ?? quotaKinds[name].usual;
  }

  /** Why a user may not have `more` in addition to what is used; undefined where it is allowed. */
  findExcess(userId: UserId, name: QuotaName, { used, more }: { readonly used: number; readonly more: number }): QuotaExcess | undefined {
    const allowed = this.allowed(userId, name);
    return used + more <= allowed ? undefined : { name, message: describeExcess(name, { used, more, allowed }) };
  }

  #add(rule: string): string | undefined {
    const match = /^(?:([^:=]+):)?([a-z-]+)=([^=]+)$/.exec(rule);
    if (match === null) return `"${rule}"; expected KIND=AMOUNT or USER:KIND=AMOUNT, for example jobs=500 or maria:tasks=5M`;
    const [, userId, name = '', text = ''] = match;
    if (!isQuotaName(name)) {
      const nearest = findNearestWord(name, quotaNames);
      return `"${rule}"; there is no quota "${name}", ${nearest === undefined ? `expected one of ${quotaNames.join(', ')}` : `did you mean "${nearest}"?`}`;
    }
    const amount = readAmount(text, name);
    if (amount === undefined) return `"${rule}"; expected an amount such as 500, 5M or none for ${name}`;
    if (userId === undefined) this.#common.set(name, amount);
    else this.#ownOf(userId).set(name, amount);
    return undefined;
  }

  #ownOf(userId: UserId): Map<QuotaName, number> {
    const known = this.#own.get(userId) ?? new Map<QuotaName, number>();
    this.#own.set(userId, known);
    return known;
  }
}

/** Reads `500`, `5M`, `64G` or `none`. Units of bytes are powers of 1024, others of 1000. */
function readAmount(text: string, name: QuotaName): number | undefined {
  if (text === 'none') return Infinity;
  const match = /^(\d{1,15})([KMGT]?)$/i.exec(text);
  if (match === null) return undefined;
  const factor = quotaKinds[name].unit === 'bytes' ? 1024 : 1000;
  return Number(match[1]) * factor ** ' KMGT'.indexOf((match[2] ?? '').toUpperCase() || ' ');
}

function describeExcess(name: QuotaName, { used, more, allowed }: { readonly used: number; readonly more: number; readonly allowed: number }): string {
  const { of, advice } = quotaKinds[name];
  const show = (amount: number): string => describeQuotaAmount(name, amount);
  return `your quota "${name}" (${of}) is ${show(allowed)}; you have ${show(used)} and ask for ${show(more)} more; ${advice}`;
}

/** An amount of a quota for people. */
export function describeQuotaAmount(name: QuotaName, amount: number): string {
  if (amount === Infinity) return 'no limit';
  const { unit } = quotaKinds[name];
  if (unit === 'bytes') return describeBytes(amount);
  const rounded = Number.isInteger(amount) ? String(amount) : amount.toFixed(1);
  return unit === 'hours' ? `${rounded} h` : rounded;
}
