import {
  restoreSnapshot,
  type OutageSnapshot,
  type ReservationsChange,
  type ReservationsOptions,
  type ReservationsState,
  type ResourceSnapshot,
} from '@mutirao/core/machines/reservations';
import type { Outage, ResourceRecord } from '@mutirao/core/messages';
import { findFreshNumber, type Journal } from '@mutirao/runtime/journal';
import { readStored } from './reservation-facts.ts';

/**
 * The state that a journal promises, from its tables of the present state. Cost: seconds for a million reservations.
 */
export function restoreState(journal: Journal<ReservationsChange>, options: ReservationsOptions): ReservationsState {
  const forgotten = Number(
    journal.database.prepare('SELECT value FROM numbers_now WHERE name = ?').get('forgotten')?.['value'] ?? 0,
  );
  const state = restoreSnapshot(options, {
    resources: readResources(journal),
    outages: readOutages(journal),
    reservations: [],
    stored: readStored(journal),
    nextReservationId: forgotten + 1,
  });
  state.nextReservationId = findFreshNumber(journal, { name: 'next_reservation', next: state.nextReservationId });
  journal.keepHost();
  return state;
}

function readResources({ database }: Journal<ReservationsChange>): ResourceSnapshot[] {
  const rows = database.prepare('SELECT registered_at, body FROM resources_now ORDER BY position').all();
  return rows.map((row) => ({
    resource: JSON.parse(String(row['body'])) as ResourceRecord,
    registeredAt: Number(row['registered_at']),
  }));
}

function readOutages({ database }: Journal<ReservationsChange>): OutageSnapshot[] {
  const rows = database.prepare('SELECT resource, body FROM outages_now ORDER BY resource, id').all();
  return rows.map((row) => ({
    resourceId: String(row['resource']),
    outage: JSON.parse(String(row['body'])) as Outage,
  }));
}
