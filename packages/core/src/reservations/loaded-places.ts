import { invariant } from '../shared/index.ts';
import type { PlacedReservation, ReservationId } from './request.ts';

/**
 * Reservations that a calendar is loaded with, in order of start, then id, in columns: a million of them become objects
 * only on demand.
 */
export interface LoadedPlaces {
  readonly ids: Float64Array;
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly amounts: Float64Array;
  /** The whole of one, by its place in that order. */
  at(index: number): PlacedReservation;
  /** Which resources one has, by its place in that order; empty for shared ones. */
  resourcesAt(index: number): readonly number[];
  /** The whole of one; undefined where it is not among them. Never another answer than the first time. */
  find(id: ReservationId): PlacedReservation | undefined;
}

/** Empty columns of this length. */
export function makeColumns(count: number): Record<'ids' | 'starts' | 'ends' | 'amounts', Float64Array> {
  return {
    ids: new Float64Array(count),
    starts: new Float64Array(count),
    ends: new Float64Array(count),
    amounts: new Float64Array(count),
  };
}

/** Those of a list. @param reservations sorted by start, then id. */
export function listLoadedPlaces(reservations: readonly PlacedReservation[]): LoadedPlaces {
  const columns = makeColumns(reservations.length);
  const byId = new Map<ReservationId, PlacedReservation>();
  reservations.forEach((reservation, index) => {
    const { id, start, end, amount } = reservation;
    byId.set(id, reservation);
    columns.ids[index] = id;
    columns.starts[index] = start;
    columns.ends[index] = end;
    columns.amounts[index] = amount;
  });
  invariant(byId.size === reservations.length, 'a reservation is there twice');
  const at = (index: number): PlacedReservation => reservations[index] as PlacedReservation;
  return { ...columns, at, resourcesAt: (index) => at(index).resources, find: (id) => byId.get(id) };
}
