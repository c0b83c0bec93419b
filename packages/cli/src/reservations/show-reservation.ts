import type { Alternative, Refusal, Reservation, Resource, UnitRange } from '@mutirao/api/reservation';
import { decodeProvisioning } from '@mutirao/api/codecs';
import { MutiraoError, errorOfCode } from '@mutirao/api/errors';
import { ProvisioningState, ReservationStatus } from '@mutirao/api/reservation';
import { decodeCause, sayCause, sayReason } from '@mutirao/api/reasons';
import type { Reason } from '@mutirao/core/reasons';
import { describeProvisioning } from '@mutirao/core/messages';
import { findNearestWord } from '@mutirao/core/shared';

import type { ReservationClient } from '@mutirao/runtime/clients';
import type { CommandContext } from '../context.ts';
import { findReservationsAddress } from '../grid/addresses.ts';
import { renderPairs, renderTable } from '../output/table.ts';
import { showDuration, showInstant, showMoment } from '../output/units.ts';
import { getEnumName } from '../wire/names.ts';

/** The option that names a reservation manager. */
export const managerOption = [
  '--manager <name>',
  'name or address of the reservation manager (default: MUTIRAO_RESERVATIONS, else the only one of the ' +
    'home folder)',
] as const;

/** The reservation manager that a command means. */
export async function openManager(context: CommandContext, name: string | undefined): Promise<ReservationClient> {
  return context.reservations(managerAddress(context, name));
}

/** Where the reservation manager is that a command means. */
export function managerAddress({ home }: CommandContext, name: string | undefined): string {
  return findReservationsAddress(home, name ?? process.env['MUTIRAO_RESERVATIONS']);
}

/** Reads a reservation's number. @throws {MutiraoError} MUT_BAD_REQUEST */
export function readReservationId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `"${text}" is not a reservation; expected a number, as "reservation list" prints it`,
    );
  return Number(text);
}

/** Resources by name, for their units. */
export async function resourcesByName(manager: ReservationClient): Promise<ReadonlyMap<string, Resource>> {
  return new Map((await manager.listResources()).resources.map((resource) => [resource.resourceId, resource]));
}

/**
 * @throws {MutiraoError} MUT_UNKNOWN_RESOURCE where there is none of a name that was given: nothing of it is not the
 * same as no such thing.
 */
export function checkResource(resources: ReadonlyMap<string, Resource>, name: string | undefined): void {
  if (name === undefined || resources.has(name)) return;
  const names = [...resources.keys()];
  const nearest = findNearestWord(name, names);
  const some =
    names.length === 0
      ? 'none is registered'
      : nearest === undefined
        ? `expected one of ${names.slice(0, 10).join(', ')}`
        : `did you mean "${nearest}"?`;
  throw new MutiraoError('MUT_UNKNOWN_RESOURCE', `there is no resource "${name}"; ${some}`);
}

/** An amount with its unit, decimal as units of capacities are: `4`, `200 KB/s`. */
export function showAmount(amount: number, unit: string): string {
  if (unit === '') return String(amount);
  let value = amount;
  let prefix = '';
  for (const next of unit === 'Hz' ? ['k', 'M', 'G', 'T'] : ['K', 'M', 'G', 'T', 'P']) {
    if (value < 1000) break;
    value /= 1000;
    prefix = next;
  }
  return `${Math.round(value * 100) / 100} ${prefix}${unit}`;
}

/** Units as people read them: `0-3, 7`. */
export function showUnits(units: readonly UnitRange[]): string {
  return units.map(({ first, count }) => (count === 1 ? String(first) : `${first}-${first + count - 1}`)).join(', ');
}

/** A list of reservations. */
export function reservationTable(
  reservations: readonly Reservation[],
  resources: ReadonlyMap<string, Resource>,
  now: number,
): string[] {
  if (reservations.length === 0) return ['No reservations.'];
  // Most resources honour what is reserved of them, and hold nothing.
  const hasAhead = reservations.some(({ provisioning }) => provisioning !== undefined);
  const aheadIn = ({ provisioning, amount }: Reservation): string =>
    provisioning === undefined
      ? ''
      : `${getEnumName(ProvisioningState, provisioning.status)} ${provisioning.heldUnits}/${amount}`;
  return renderTable(
    [
      { title: 'ID', right: true },
      { title: 'RESOURCE' },
      { title: 'USER' },
      { title: 'STATUS' },
      { title: 'AMOUNT', right: true },
      { title: 'STARTS' },
      { title: 'ENDS' },
      { title: 'DURATION', right: true },
      ...(hasAhead ? [{ title: 'PRE-ACQUIRED' }] : []),
      { title: 'REASON' },
    ],
    reservations.map((one) => [
      String(one.reservationId),
      one.resourceId,
      one.userId,
      getEnumName(ReservationStatus, one.status),
      showAmount(one.amount, resources.get(one.resourceId)?.unit ?? ''),
      showMoment(one.startUnixMs, now),
      showMoment(one.endUnixMs, now),
      showDuration(one.endUnixMs - one.startUnixMs),
      ...(hasAhead ? [aheadIn(one)] : []),
      sayReservation(one),
    ]),
  );
}

/** Whether a reservation has no place any more. */
export function isOver({ status }: Pick<Reservation, 'status'>): boolean {
  return (
    status === ReservationStatus.RELEASED ||
    status === ReservationStatus.EXPIRED ||
    status === ReservationStatus.CANCELLED
  );
}

/** One reservation, whole. */
export function reservationPairs(one: Reservation, unit: string): string[] {
  return renderPairs([
    ['reservation', String(one.reservationId)],
    ['resource', one.resourceId],
    ['user', one.userId],
    ['status', getEnumName(ReservationStatus, one.status)],
    ['amount', `${showAmount(one.amount, unit)}${one.units.length === 0 ? '' : ` (units ${showUnits(one.units)})`}`],
    ['starts', showInstant(one.startUnixMs)],
    ['ends', `${showInstant(one.endUnixMs)} (${showDuration(one.endUnixMs - one.startUnixMs)})`],
    [
      'limits',
      `from ${showInstant(one.earliestStartUnixMs ?? 0)} until ` +
        `${one.latestEndUnixMs === undefined ? 'any time' : showInstant(one.latestEndUnixMs)}`,
    ],
    ['held until', one.holdUntilUnixMs === 0 ? '' : showInstant(one.holdUntilUnixMs)],
    ['in use since', one.claimedUnixMs === 0 ? '' : showInstant(one.claimedUnixMs)],
    ['over since', one.endedUnixMs === 0 ? '' : showInstant(one.endedUnixMs)],
    ['revision', one.revision === 1 ? '' : String(one.revision)],
    ['reason', sayReservation(one)],
    [
      'stands with',
      one.together === undefined
        ? ''
        : 'reservation ' +
          `${one.together.reservationId}${one.together.managerAddress === '' ? '' : ` at ${one.together.managerAddress}`}`,
    ],
    ...findAhead(one).map((line, index): [string, string] => [index === 0 ? 'held ahead' : '', line]),
    ['key', one.clientRequestId],
    ['claim', one.claim],
  ]);
}

/** The pre-acquired allocations of a reservation, in sentences, the decisive one first; none if none was reported. */
export function findAhead(reservation: Reservation): string[] {
  return explainAhead(reservation).map((reason) => sayReason(reason, localTimes));
}

/** The same as reasons. */
export function explainAhead({ provisioning, amount: count, startUnixMs: startsAt }: Reservation): Reason[] {
  return provisioning === undefined ? [] : describeProvisioning(decodeProvisioning(provisioning), { count, startsAt });
}

/** Sentences on this terminal have times of its zone. */
export const localTimes = { instant: showInstant };

/** Why a reservation is where it is, or is over. */
export function sayReservation({ reason }: Pick<Reservation, 'reason'>): string {
  return sayCause(decodeCause(reason, 'reservation.reason'), localTimes);
}

/** Why there is no place, and what could be had, in lines for standard error. */
export function refusalLines({ code, message, alternatives }: Refusal, unit: string): string[] {
  const { advice } = errorOfCode(code, message);
  const rows = alternatives.map(({ reason, startUnixMs, endUnixMs, amount }: Alternative) => [
    reason?.text ?? '',
    showAmount(amount, unit),
    showInstant(startUnixMs),
    showDuration(endUnixMs - startUnixMs),
  ]);
  return [
    `error: ${code} ${message}`,
    advice,
    ...(rows.length === 0
      ? []
      : renderTable(
          [
            { title: 'ALTERNATIVE' },
            { title: 'AMOUNT', right: true },
            { title: 'FROM' },
            { title: 'DURATION', right: true },
          ],
          rows,
        )),
  ];
}
