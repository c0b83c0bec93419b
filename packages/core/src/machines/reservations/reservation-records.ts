import type { ReservationRecord } from '../../messages/index.ts';
import type { UserId } from '../../shared/index.ts';
import type { ReservationBrief, StoredReservations } from './stored-reservations.ts';

/**
 * All reservations that a manager remembers, by id, and by user and the key that the user chose.
 *
 * After a restart most of them are in the store, and only in brief here: a whole one is read on demand, and is kept
 * once it has changed.
 */
export class ReservationRecords {
  /** New and changed ones. */
  readonly #records = new Map<number, ReservationRecord>();
  /** Ids of those that were not stored. */
  readonly #byKey = new Map<UserId, Map<string, number>>();
  readonly #stored: StoredReservations | undefined;
  /** Ids of stored ones that have changed or are forgotten. */
  readonly #replaced = new Set<number>();

  /** None, or those of a store. */
  constructor(stored?: StoredReservations) {
    this.#stored = stored;
  }

  get size(): number {
    return this.#records.size + (this.#stored?.count ?? 0) - this.#replaced.size;
  }

  /** The whole of one. Cost: that of a look into the store where it has not changed since the start. */
  get(id: number): ReservationRecord | undefined {
    return this.#records.get(id) ?? (this.#findRow(id) === undefined ? undefined : this.#stored?.read(id));
  }

  /** Cost: O(log n). */
  has(id: number): boolean {
    return this.#records.has(id) || this.#findRow(id) !== undefined;
  }

  /** What is at hand of one. Cost: O(log n). */
  findBrief(id: number): ReservationBrief | undefined {
    const record = this.#records.get(id);
    if (record !== undefined) return record;
    const row = this.#findRow(id);
    return row === undefined ? undefined : this.#stored?.briefAt(row);
  }

  /** The one for which a user chose a key; the last where there were more. Cost: O(1), and of a look into the store. */
  findByKey(userId: UserId, key: string): ReservationRecord | undefined {
    const id = this.#byKey.get(userId)?.get(key);
    if (id !== undefined) return this.get(id);
    const rows = this.#stored?.rowsByKey(userId, key) ?? [];
    return rows
      .flatMap((row) => this.get(this.#stored?.idAt(row) ?? 0) ?? [])
      .findLast(({ place, clientRequestId }) => place.userId === userId && clientRequestId === key);
  }

  /** Replaces a record. */
  set(id: number, record: ReservationRecord): void {
    const {
      place: { userId },
      clientRequestId,
    } = record;
    if (clientRequestId !== '' && !this.has(id)) this.#getKeys(userId).set(clientRequestId, id);
    if (this.#findRow(id) !== undefined) this.#replaced.add(id);
    this.#records.set(id, record);
  }

  /** Forgets one, and its key. */
  delete(id: number): void {
    const record = this.#records.get(id);
    if (this.#findRow(id) !== undefined) this.#replaced.add(id);
    this.#records.delete(id);
    if (record === undefined) return;
    const keys = this.#byKey.get(record.place.userId);
    if (keys?.get(record.clientRequestId) === id) keys.delete(record.clientRequestId);
    if (keys?.size === 0) this.#byKey.delete(record.place.userId);
  }

  /** All of them whole: stored ones in order of id, then the others as they came. Cost: that of reading all. */
  *values(): Generator<ReservationRecord> {
    for (const [, record] of this) yield record;
  }

  /** As `values`, with their ids. */
  *[Symbol.iterator](): Generator<[number, ReservationRecord]> {
    for (const row of this.#rows()) {
      const id = this.#stored?.idAt(row) as number;
      yield [id, this.#stored?.read(id) as ReservationRecord];
    }
    yield* this.#records;
  }

  /** What is at hand of all, in the order of `values`. Cost: O(n). */
  *briefs(): Generator<ReservationBrief> {
    for (const row of this.#rows()) yield this.#stored?.briefAt(row) as ReservationBrief;
    yield* this.#records.values();
  }

  /** Of stored ones that have not changed. */
  *#rows(): Generator<number> {
    const stored = this.#stored;
    for (let row = 0; row < (stored?.count ?? 0); row += 1)
      if (!this.#replaced.has(stored?.idAt(row) as number)) yield row;
  }

  #findRow(id: number): number | undefined {
    return this.#replaced.has(id) ? undefined : this.#stored?.rowOf(id);
  }

  #getKeys(userId: UserId): Map<string, number> {
    const known = this.#byKey.get(userId);
    if (known !== undefined) return known;
    const keys = new Map<string, number>();
    this.#byKey.set(userId, keys);
    return keys;
  }
}
