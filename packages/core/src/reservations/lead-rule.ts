import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/** How long a request of any user waited until it started. */
export interface MeasuredWait {
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  readonly wait: Duration;
}

/**
 * When the allocation for a reservation is requested, based on past waits only.
 *
 * `fixed`: a fixed lead. `learned`: a lead that covered this share of the recent waits of similar requests in this
 * queue.
 */
export type HoldingRule =
  | { readonly kind: 'fixed'; readonly lead: Duration }
  | { readonly kind: 'learned'; readonly share: number };

/**
 * When it is requested if the queue can forecast as well. `forecast`: as late as a request submitted now is promised to
 * start `margin` before the reservation.
 */
export type LeadRule = HoldingRule | { readonly kind: 'forecast'; readonly margin: Duration };

/** What a decision to ask is made of. */
export interface AskingView {
  readonly now: Instant;
  readonly startsAt: Instant;
  readonly endsAt: Instant;
  readonly width: ProcessorCount;
  readonly waits: WaitHistory;
  /** When a request would start that is made now. */
  forecast(width: ProcessorCount, walltime: Duration): Instant;
}

/** Waits that are remembered of each class of widths. */
const waitsMax = 200;
/** With fewer like it, those of all widths count. */
const alikeMin = 20;
/** What is asked ahead at least, and before anything was measured. */
const leadMin: Duration = 600_000;
const leadUnknown: Duration = 3_600_000;

/** The most recent waits in a queue, by classes of widths: powers of two. */
export class WaitHistory {
  readonly #byClass = new Map<number, Duration[]>();

  /** Notes a start. */
  add({ width, wait }: Pick<MeasuredWait, 'width' | 'wait'>): void {
    const index = getClass(width);
    const waits = this.#byClass.get(index) ?? [];
    if (waits.length === 0) this.#byClass.set(index, waits);
    waits.push(wait);
    if (waits.length > waitsMax) waits.shift();
  }

  /**
   * The time within which that share of the last requests of such a width, or wider where there were few, started.
   *
   * Cost: O(w log w) of the waits that are remembered.
   */
  leadFor(width: ProcessorCount, share: number): Duration {
    const waits = this.#waitsLike(width).sort((one, other) => one - other);
    if (waits.length === 0) return leadUnknown;
    return Math.max(leadMin, waits[Math.min(waits.length - 1, Math.floor(share * waits.length))] ?? 0);
  }

  /**
   * The share of such requests that started within a time, among those that had waited for as long as `waited` already;
   * undefined where there was none.
   *
   * Cost: O(w) of the waits that are remembered.
   */
  shareWithin(
    width: ProcessorCount,
    { waited, within }: { readonly waited: Duration; readonly within: Duration },
  ): number | undefined {
    const alike = this.#waitsLike(width).filter((wait) => wait >= waited);
    return alike.length === 0 ? undefined : alike.filter((wait) => wait <= within).length / alike.length;
  }

  /** Of requests as wide, of wider ones too where those are few, and of all where even these are. */
  #waitsLike(width: ProcessorCount): Duration[] {
    const indexes = [...this.#byClass.keys()]
      .filter((index) => index >= getClass(width))
      .sort((one, other) => one - other);
    const alike: Duration[] = [];
    for (const index of indexes) if (alike.length < alikeMin) alike.push(...(this.#byClass.get(index) ?? []));
    return alike.length >= alikeMin ? alike : [...this.#byClass.values()].flat();
  }
}

/**
 * Whether the allocation for a reservation should be requested now; it lasts until the reservation ends, so that it
 * takes longer the earlier it is requested.
 */
export function isTimeToAsk(rule: LeadRule, { now, startsAt, endsAt, width, waits, forecast }: AskingView): boolean {
  switch (rule.kind) {
    case 'fixed':
    case 'learned':
      return now >= startsAt - getLead(rule, width, waits);
    case 'forecast':
      return now >= startsAt || forecast(width, endsAt - now) >= startsAt - rule.margin;
  }
}

/**
 * How long before the start of its reservation an allocation of such a width is asked for. Cost: as
 * `WaitHistory.leadFor`.
 */
function getLead(rule: HoldingRule, width: ProcessorCount, waits: WaitHistory): Duration {
  return rule.kind === 'fixed' ? rule.lead : waits.leadFor(width, rule.share);
}

/** The leads by one rule and one history, each width worked out once. */
export class Leads {
  readonly #rule: HoldingRule;
  readonly #waits = new WaitHistory();
  readonly #byWidth = new Map<ProcessorCount, Duration>();

  /** @param waits oldest first */
  constructor(rule: HoldingRule, waits: Iterable<Pick<MeasuredWait, 'width' | 'wait'>>) {
    this.#rule = rule;
    for (const wait of waits) this.#waits.add(wait);
  }

  /** How long before the start of its reservation an allocation of such a width is asked for. */
  of(width: ProcessorCount): Duration {
    const known = this.#byWidth.get(width);
    if (known !== undefined) return known;
    const lead = getLead(this.#rule, width, this.#waits);
    this.#byWidth.set(width, lead);
    return lead;
  }
}

function getClass(width: ProcessorCount): number {
  let index = 0;
  for (let top = 1; top < width; top *= 2) index += 1;
  return index;
}
