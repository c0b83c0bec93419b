import type { ReservationEvent } from '@mutirao/core/machines/reservations';
import type { Instant } from '@mutirao/core/shared';
import { ReservationEvent as ReservationEventWire } from '../generated/mutirao/reservation/v1/reservation_service.ts';
import { encodeReservationEvent } from '../codecs/reservation.ts';
import type { EventMessage } from './cloud-events.ts';

/** One line of a reservation manager's journal, as events. */
export interface ReportedReservationChange {
  readonly sequence: number;
  readonly at: Instant;
  readonly events: readonly ReservationEvent[];
}

/**
 * The messages of one change, in order: CloudEvents with a `mutirao.reservation.v1.ReservationEvent`, on
 * `mutirao.events.reservation.<fact>.<id>` or `mutirao.events.resource.<fact>.<name>`.
 *
 * Ids are as those of a broker's events: the journal's sequence, `17`, `17.1`, ... A change gives the same messages,
 * byte for byte, at any time.
 * @param source the CloudEvents source: one for each manager and each run of its journal in which no sequence is used
 * twice.
 */
export function encodeReservationEvents(
  source: string,
  { sequence, at, events }: ReportedReservationChange,
): EventMessage[] {
  return events.map((event, part) => {
    const id = part === 0 ? String(sequence) : `${sequence}.${part}`;
    const about = event.reservation === undefined ? event.resourceId : String(event.reservation.place.id);
    return {
      subject: `mutirao.events.${event.type}.${about.replace(/[^\w/-]/g, '_')}`,
      messageId: `${source}#${id}`,
      headers: {
        'ce-specversion': '1.0',
        'ce-id': id,
        'ce-source': source,
        'ce-type': `mutirao.${event.type}`,
        'ce-subject': `${event.reservation === undefined ? 'resources' : 'reservations'}/${about.replace(/[^\x20-\x7e]/g, '_')}`,
        'ce-time': new Date(at).toISOString(),
        'ce-datacontenttype': 'application/protobuf',
        'content-type': 'application/protobuf',
      },
      data: ReservationEventWire.encode(encodeReservationEvent(sequence, at, event)).finish(),
    };
  });
}
