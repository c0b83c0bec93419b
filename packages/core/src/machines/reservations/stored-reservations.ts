import type { ReservationRecord, ReservationStatus } from '../../messages/index.ts';
import { makeColumns, type LoadedPlaces, type PlacedReservation, type UnitLists } from '../../reservations/index.ts';
import { invariant } from '../../shared/index.ts';
import { sortOrder } from '../../shared/sort-order.ts';
import { getFiled, isLiving, isPrepared } from './resource-status.ts';

/** What lists and time need to know of a reservation: not which units it has. */
export interface ReservationBrief extends Pick<ReservationRecord, 'resourceId' | 'status' | 'holdUntil' | 'endedAt'> {
  readonly place: Omit<PlacedReservation, 'resources'>;
}

/** Numbers that describe one reservation in brief: see `listStoredFacts`. */
export const factCount = 12;

/** A status as stores number it. */
const reservationStatuses: readonly ReservationStatus[] = [
  'held',
  'confirmed',
  'claimed',
  'released',
  'expired',
  'cancelled',
];

const preparedFlag = 2 ** 32;
const none: readonly number[] = [];

/**
 * A reservation in brief, as a store keeps it in addition to the whole; its units are not included. @param names the
 * store's numbers of its resource and its user.
 */
export function listStoredFacts(
  reservation: ReservationRecord,
  names: { readonly resource: number; readonly user: number },
): Float64Array {
  const { place, status, holdUntil, endedAt, clientRequestId } = reservation;
  const tag = hashKey(place.userId, clientRequestId) + (isPrepared(reservation) ? preparedFlag : 0);
  return Float64Array.of(
    place.id,
    names.resource,
    names.user,
    reservationStatuses.indexOf(status),
    place.start,
    place.end,
    place.amount,
    place.earliestStart,
    place.latestEnd ?? Infinity,
    holdUntil,
    endedAt,
    tag,
  );
}

/** What `StoredReservations` are made of. */
export interface StoredParts {
  /** `factCount` numbers of each, in order of their ids. */
  readonly facts: Float64Array;
  /** By place in that order; left out where none has any. */
  readonly units?: UnitLists | undefined;
  /** By the store's numbers of them. */
  readonly names: ReadonlyMap<number, string>;
  /** Reads the whole of one that is among them. */
  read(id: number): ReservationRecord;
}

/**
 * Reservations that lie in a store: known in brief, and read whole when they are asked for. Nothing here changes. n is
 * how many they are.
 */
export class StoredReservations {
  readonly count: number;
  readonly #parts: StoredParts;
  /** Row + 1 by hash of the key, at the first free place from there on; a power of two, half empty. */
  readonly #byKey: Uint32Array;

  constructor(parts: StoredParts) {
    this.#parts = parts;
    this.count = parts.facts.length / factCount;
    this.#byKey = indexKeys(parts.facts, this.count);
  }

  /** The row of a reservation; undefined if it is not in the store. Cost: O(log n). */
  rowOf(id: number): number | undefined {
    const { facts } = this.#parts;
    let [low, high] = [0, this.count - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((facts[middle * factCount] as number) < id) low = middle + 1;
      else high = middle;
    }
    return facts[low * factCount] === id ? low : undefined;
  }

  idAt(row: number): number {
    return this.#parts.facts[row * factCount] as number;
  }

  /** Whether it stands or falls with another one. */
  isPreparedAt(row: number): boolean {
    return (this.#parts.facts[row * factCount + 11] as number) >= preparedFlag;
  }

  briefAt(row: number): ReservationBrief {
    const { facts } = this.#parts;
    const at = row * factCount;
    const [latestEnd, status] = [facts[at + 8] as number, this.#statusAt(row)];
    const place: ReservationBrief['place'] = {
      id: facts[at] as number,
      userId: this.#nameOf(facts[at + 2] as number),
      start: facts[at + 4] as number,
      end: facts[at + 5] as number,
      amount: facts[at + 6] as number,
      earliestStart: facts[at + 7] as number,
      latestEnd: latestEnd === Infinity ? undefined : latestEnd,
    };
    return {
      place: status === 'held' ? { ...place, isHeld: true } : place,
      resourceId: this.#nameOf(facts[at + 1] as number),
      status,
      holdUntil: facts[at + 9] as number,
      endedAt: facts[at + 10] as number,
    };
  }

  /** Places of living ones by the resource that they are of. Cost: O(n). */
  places(): Map<string, LoadedPlaces> {
    const rowsOf = new Map<number, number[]>();
    for (let row = 0; row < this.count; row += 1) {
      if (!this.#isLivingAt(row)) continue;
      const resource = this.#parts.facts[row * factCount + 1] as number;
      const rows = rowsOf.get(resource);
      if (rows === undefined) rowsOf.set(resource, [row]);
      else rows.push(row);
    }
    return new Map([...rowsOf].map(([resource, rows]) => [this.#nameOf(resource), this.#listPlaces(resource, rows)]));
  }

  /** The whole of one. */
  read(id: number): ReservationRecord {
    return getFiled(this.#parts.read(id));
  }

  /** Those whose user and key may be these. Cost: O(1). */
  rowsByKey(userId: string, key: string): number[] {
    const { facts } = this.#parts;
    const hash = hashKey(userId, key);
    const last = this.#byKey.length - 1;
    const rows: number[] = [];
    for (let place = hash & last; this.#byKey[place] !== 0; place = (place + 1) & last) {
      const row = (this.#byKey[place] as number) - 1;
      if (keyHashAt(facts, row) === hash) rows.push(row);
    }
    return rows;
  }

  /** @param rows in order of their ids. */
  #listPlaces(resource: number, rows: readonly number[]): LoadedPlaces {
    const { facts, units } = this.#parts;
    const starts = Float64Array.from(rows, (row) => facts[row * factCount + 4] as number);
    const sorted = sortOrder(starts).map((place) => rows[place] as number);
    const columns = makeColumns(rows.length);
    sorted.forEach((row, index) => {
      columns.ids[index] = facts[row * factCount] as number;
      columns.starts[index] = facts[row * factCount + 4] as number;
      columns.ends[index] = facts[row * factCount + 5] as number;
      columns.amounts[index] = facts[row * factCount + 6] as number;
    });
    return {
      ...columns,
      at: (index) => this.#placeAt(sorted[index] as number),
      resourcesAt: (index) => units?.listAt(sorted[index] as number) ?? none,
      find: (id) => {
        const row = this.rowOf(id);
        return row !== undefined && facts[row * factCount + 1] === resource && this.#isLivingAt(row)
          ? this.#placeAt(row)
          : undefined;
      },
    };
  }

  #placeAt(row: number): PlacedReservation {
    return { ...this.briefAt(row).place, resources: this.#parts.units?.listAt(row) ?? none };
  }

  #isLivingAt(row: number): boolean {
    return isLiving({ status: this.#statusAt(row) });
  }

  #statusAt(row: number): ReservationStatus {
    const status = reservationStatuses[this.#parts.facts[row * factCount + 3] as number];
    invariant(status !== undefined, `the status of reservation ${this.idAt(row)} is not known`);
    return status;
  }

  #nameOf(number: number): string {
    const name = this.#parts.names.get(number);
    invariant(name !== undefined, `the store has no name ${number}`);
    return name;
  }
}

/** 1 to 2^32 - 1; 0 where there is no key. FNV-1a over UTF-16; stores keep it. */
function hashKey(userId: string, key: string): number {
  if (key === '') return 0;
  let hash = 0x81_1c_9d_c5;
  for (const text of [userId, '\0', key]) {
    for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  }
  return hash >>> 0 === 0 ? 1 : hash >>> 0;
}

function keyHashAt(facts: Float64Array, row: number): number {
  const tag = facts[row * factCount + 11] as number;
  return tag >= preparedFlag ? tag - preparedFlag : tag;
}

function indexKeys(facts: Float64Array, count: number): Uint32Array {
  let size = 2;
  while (size < 2 * count) size *= 2;
  const places = new Uint32Array(size);
  for (let row = 0; row < count; row += 1) {
    const hash = keyHashAt(facts, row);
    if (hash === 0) continue;
    let place = hash & (size - 1);
    while (places[place] !== 0) place = (place + 1) & (size - 1);
    places[place] = row + 1;
  }
  return places;
}
