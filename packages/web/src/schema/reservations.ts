import Type, { type Static } from 'typebox';
import { Reason } from './reason.ts';
import { Count, DurationMs, InstantMs, orNull } from './parts.ts';

const Units = Type.Array(Type.Object({ first: Count, count: Count }));

/** What can be reserved. */
export const ReservableResource = Type.Object({
  resource_id: Type.String(),
  owner_id: Type.String(),
  type: Type.String(),
  kind: Type.String({ description: '`units` or `capacity`.' }),
  total: Count,
  unit: Type.String(),
  cap_percent: Type.Number(),
  duration_ms_max: DurationMs,
  failed: Count,
  reservation_count: Count,
  maintenances: Type.Array(
    Type.Object({
      maintenance_id: Type.String(),
      start_unix_ms: InstantMs,
      end_unix_ms: InstantMs,
      amount: Count,
      reason: Type.String(),
    }),
  ),
});
export type ReservableResource = Static<typeof ReservableResource>;

/** All resources of the reservation manager. */
export const ResourceList = Type.Object({ resources: Type.Array(ReservableResource) });
export type ResourceList = Static<typeof ResourceList>;

/** A reservation as its viewer may see it: of others' only where she owns the resource. */
export const Reservation = Type.Object({
  reservation_id: Count,
  resource_id: Type.String(),
  user_id: Type.String(),
  is_mine: Type.Boolean(),
  status: Type.String({ description: '`held`, `confirmed`, `claimed`, `released`, `expired` or `cancelled`.' }),
  start_unix_ms: InstantMs,
  end_unix_ms: InstantMs,
  amount: Count,
  unit: Type.String(),
  units: Units,
  earliest_start_unix_ms: orNull(InstantMs),
  latest_end_unix_ms: orNull(InstantMs),
  hold_until_unix_ms: orNull(InstantMs),
  requested_unix_ms: InstantMs,
  revision: Count,
  reason: orNull(Reason),
  provisioning: orNull(
    Type.Object({
      status: Type.String(),
      held: Count,
      asked: Count,
      expected_unix_ms: orNull(InstantMs),
      chance_percent: orNull(Type.Number()),
      reasons: Type.Array(Reason),
    }),
  ),
});
export type Reservation = Static<typeof Reservation>;

/** Reservations, the newest first. */
export const ReservationList = Type.Object({
  reservations: Type.Array(Reservation),
  next_before_reservation_id: orNull(Count),
});
export type ReservationList = Static<typeof ReservationList>;

/**
 * How much of a resource is taken over time, by all users, and the reservations in the window that the viewer may see.
 */
export const ReservationCalendar = Type.Object({
  resource: ReservableResource,
  from_unix_ms: InstantMs,
  until_unix_ms: InstantMs,
  slots: Type.Array(Type.Object({ start_unix_ms: InstantMs, end_unix_ms: InstantMs, used: Count }), {
    description: 'Without gaps; nothing changes within one.',
  }),
  truncated: Type.Boolean({ description: 'Whether later slots are left out.' }),
  utilisation: Type.Number({ description: 'Share of the resource that is taken within the slots, from 0 to 1.' }),
  reservations: Type.Array(Reservation, { description: '1,000 at most.' }),
});
export type ReservationCalendar = Static<typeof ReservationCalendar>;

/** What is asked for. */
export const ReservationSpec = Type.Object({
  resource_id: Type.String({ minLength: 1, maxLength: 256 }),
  quantity: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'As people write it: `4` units, `30%` of the resource, `200KB/s`.',
  }),
  duration_ms: Type.Integer({ minimum: 1 }),
  earliest_start_unix_ms: Type.Optional(InstantMs),
  latest_end_unix_ms: Type.Optional(InstantMs),
  dry_run: Type.Optional(Type.Boolean({ description: 'Shows the result, and reserves nothing.' })),
  client_request_id: Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'Chosen by the page: the same key is the same reservation.',
  }),
});
export type ReservationSpec = Static<typeof ReservationSpec>;

/** The new terms for an existing reservation. */
export const RenegotiationSpec = Type.Object({
  quantity: Type.String({ minLength: 1, maxLength: 64 }),
  duration_ms: Type.Integer({ minimum: 1 }),
  earliest_start_unix_ms: Type.Optional(InstantMs),
  latest_end_unix_ms: Type.Optional(InstantMs),
});
export type RenegotiationSpec = Static<typeof RenegotiationSpec>;

/** Where it was placed, or why it was not and what could be had instead. A refusal is an answer, not a Problem. */
export const ReservationPlacement = Type.Object({
  placed: Type.Boolean(),
  reservation: orNull(Reservation),
  moved_count: Count,
  code: Type.String(),
  message: Type.String(),
  alternatives: Type.Array(
    Type.Object({ start_unix_ms: InstantMs, end_unix_ms: InstantMs, amount: Count, reason: orNull(Reason) }),
  ),
});
export type ReservationPlacement = Static<typeof ReservationPlacement>;
