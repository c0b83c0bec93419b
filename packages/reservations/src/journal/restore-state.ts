import { restoreSnapshot, type OutageSnapshot, type ReservationsChange, type ReservationsOptions, type ReservationsState, type ResourceSnapshot } from '@mutirao/core/machines/reservations';
import type { Outage, ReservationRecord, ResourceRecord } from '@mutirao/core/messages';
import type { Journal } from '@mutirao/runtime/journal';
import { reservationOf, type ReservationRow } from './reservation-row.ts';

/** Numbers that are passed over after a fall of the whole machine, or a journal that was put back: the last ones may have been given and forgotten. */
const idsSkipped = 1_000_000;
/** Rows that are read and parsed as one text. */
const chunkLength = 5000;

/** The state that a journal promises, from its tables of what is there now. Cost: seconds for a million reservations. */
export function restoreState(journal: Journal<ReservationsChange>, options: ReservationsOptions): ReservationsState {
  const forgotten = Number(journal.database.prepare('SELECT value FROM numbers_now WHERE name = ?').get('forgotten')?.['value'] ?? 0);
  const state = restoreSnapshot(options, {
    resources: readResources(journal), outages: readOutages(journal), reservations: readReservations(journal), nextReservationId: forgotten + 1,
  });
  if (journal.isHostNew) state.nextReservationId += idsSkipped;
  journal.keepHost();
  return state;
}

function readResources({ database }: Journal<ReservationsChange>): ResourceSnapshot[] {
  const rows = database.prepare('SELECT registered_at, body FROM resources_now ORDER BY position').all();
  return rows.map((row) => ({ resource: JSON.parse(String(row['body'])) as ResourceRecord, registeredAt: Number(row['registered_at']) }));
}

function readOutages({ database }: Journal<ReservationsChange>): OutageSnapshot[] {
  const rows = database.prepare('SELECT resource, body FROM outages_now ORDER BY resource, id').all();
  return rows.map((row) => ({ resourceId: String(row['resource']), outage: JSON.parse(String(row['body'])) as Outage }));
}

/** A row at a time would cost more than its parsing: SQLite joins them. */
function* readReservations({ database }: Journal<ReservationsChange>): Generator<ReservationRecord> {
  const texts = new Map<string, string>();
  const keep = (text: string): string => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
  const statement = database.prepare('SELECT group_concat(body) AS bodies, max(id) AS last FROM (SELECT id, body FROM reservations_now WHERE id > ? ORDER BY id LIMIT ?)');
  for (let last = 0; ;) {
    const row = statement.get(last, chunkLength);
    const bodies = row?.['bodies'];
    if (typeof bodies !== 'string') return;
    last = Number(row?.['last']);
    for (const one of JSON.parse(`[${bodies}]`) as ReservationRow[]) yield reservationOf(one, keep);
  }
}
