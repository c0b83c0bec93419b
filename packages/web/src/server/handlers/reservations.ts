import { MutiraoError } from '@mutirao/api/errors';
import { Timing, type ReservationSpec as SpecWire, type Resource } from '@mutirao/api/reservation';

import type { RenegotiationSpec, ReservationSpec } from '../../schema/index.ts';
import {
  calendarDocument,
  placementDocument,
  reservationDocument,
  resourceDocument,
} from '../documents/reservations.ts';
import type { GatewayParts, ReservationCalls } from '../grid-calls.ts';
import type { Handlers } from '../requests.ts';

const pageUsual = 200;
const shownMax = 1000;

type Reading = 'listResources' | 'getCalendar' | 'listReservations';
type Changing = 'requestReservation' | 'renegotiateReservation' | 'cancelReservation';

/** Reservations: the calendar of a resource, and requesting, moving and cancelling. */
export function reservationHandlers(parts: GatewayParts): Handlers<Reading | Changing> {
  return { ...readingHandlers(parts), ...changingHandlers(parts) };
}

function readingHandlers(parts: GatewayParts): Handlers<Reading> {
  const { userId } = parts;
  return {
    listResources: async () => ({
      resources: (await requireManager(parts).listResources()).resources.map(resourceDocument),
    }),
    getCalendar: async ({
      query: { resource_id: resourceId, from_unix_ms: fromUnixMs, until_unix_ms: untilUnixMs },
    }) => {
      const manager = requireManager(parts);
      const window = { resourceId, fromUnixMs, untilUnixMs };
      const [calendar, listed] = await Promise.all([
        manager.getCalendar(window),
        manager.listReservations({
          ...window,
          pageSize: shownMax,
          beforeReservationId: 0,
          statuses: [],
          allUsers: true,
        }),
      ]);
      if (calendar.resource === undefined) throw noResource(resourceId);
      const viewer = { userId, unit: calendar.resource.unit };
      return calendarDocument(
        calendar,
        calendar.resource,
        listed.reservations.map((one) => reservationDocument(one, viewer)),
      );
    },
    listReservations: async ({ query }) => {
      const manager = requireManager(parts);
      const [{ reservations, nextBeforeReservationId: next }, units] = await Promise.all([
        manager.listReservations({
          pageSize: query.page_size ?? pageUsual,
          beforeReservationId: query.before_reservation_id ?? 0,
          resourceId: '',
          statuses: [],
          fromUnixMs: 0,
          untilUnixMs: 0,
          allUsers: true,
        }),
        listUnits(manager),
      ]);
      return {
        reservations: reservations.map((one) =>
          reservationDocument(one, { userId, unit: units.get(one.resourceId) ?? '' }),
        ),
        next_before_reservation_id: next === 0 ? null : next,
      };
    },
  };
}

function changingHandlers(parts: GatewayParts): Handlers<Changing> {
  const { userId } = parts;
  return {
    requestReservation: async ({ body }) => {
      const manager = requireManager(parts);
      const { outcome, movedCount } = await manager.requestReservation({
        spec: findSpec(body.resource_id, body),
        clientRequestId: body.client_request_id,
        holdMs: 0,
        dryRun: body.dry_run ?? false,
      });
      return placementDocument(
        { ...getOutcome(outcome), movedCount },
        { userId, unit: (await listUnits(manager)).get(body.resource_id) ?? '' },
      );
    },
    renegotiateReservation: async ({ params, body }) => {
      const manager = requireManager(parts);
      const { outcome } = await manager.renegotiateReservation({
        reservationId: params.reservation_id,
        spec: findSpec('', body),
      });
      const resourceId = outcome?.$case === 'reservation' ? outcome.value.resourceId : '';
      return placementDocument(
        { ...getOutcome(outcome), movedCount: 0 },
        { userId, unit: (await listUnits(manager)).get(resourceId) ?? '' },
      );
    },
    cancelReservation: async ({ params, body }) => {
      await requireManager(parts).cancelReservation({
        reservationId: params.reservation_id,
        reason: body.reason ?? '',
      });
      return { done: true };
    },
  };
}

/** @throws {MutiraoError} MUT_NOT_FOUND */
function requireManager({ grid }: GatewayParts): ReservationCalls {
  const manager = grid.findReservations();
  if (manager === undefined)
    throw new MutiraoError(
      'MUT_NOT_FOUND',
      'this grid has no reservation manager; start one with "mutirao up --reservations"',
    );
  return manager;
}

async function listUnits(manager: ReservationCalls): Promise<ReadonlyMap<string, Resource['unit']>> {
  return new Map((await manager.listResources()).resources.map(({ resourceId, unit }) => [resourceId, unit]));
}

function findSpec(resourceId: string, spec: RenegotiationSpec | ReservationSpec): SpecWire {
  return {
    resourceId,
    amount: { $case: 'quantity', value: spec.quantity },
    durationMs: spec.duration_ms,
    earliestStartUnixMs: spec.earliest_start_unix_ms,
    latestEndUnixMs: spec.latest_end_unix_ms,
    timing: Timing.UNSPECIFIED,
  };
}

function getOutcome(
  outcome: Awaited<ReturnType<ReservationCalls['renegotiateReservation']>>['outcome'],
): Omit<Parameters<typeof placementDocument>[0], 'movedCount'> {
  return {
    reservation: outcome?.$case === 'reservation' ? outcome.value : undefined,
    refusal: outcome?.$case === 'refusal' ? outcome.value : undefined,
  };
}

function noResource(resourceId: string): MutiraoError {
  return new MutiraoError('MUT_NOT_FOUND', `there is no resource ${resourceId}`);
}
