import type { Fault } from '../reasons/index.ts';
import { invariant } from '../shared/index.ts';
import type { Duration } from '../shared/index.ts';

/** Parts of a share that make the whole. */
export const wholePpm = 1_000_000;

/** Where a reservation goes among the places, and the resources, that would do. */
export type PlacementRule = 'first-fit' | 'min-lip' | 'min-tip';

/**
 * What an owner lets others reserve: a group of identical resources (`counted`), or the capacity of one (`shared`).
 *
 * Facts only: an owner registers it, and a journal keeps it.
 */
export interface ReservableResource {
  readonly kind: 'counted' | 'shared';
  /** How many resources, numbered from 0; or whole base units of the capacity. */
  readonly capacity: number;
  /** The share that the owner offers, in parts per million, more than 0. */
  readonly capPpm: number;
  /** The longest reservation; undefined without a bound. */
  readonly durationMax: Duration | undefined;
  /** The most that one user may hold at any one time; undefined without a bound. */
  readonly userMax: number | undefined;
  /** Whether reservations with a latest end may move those without one (SUVS-P). */
  readonly algorithm: 'suvs' | 'suvs-p';
  readonly placement: PlacementRule;
  /** The most reservations that SUVS-P moves for one request. */
  readonly movesMax: number;
  /**
   * Which ones SUVS-P moves: all low-priority ones that the place covers, as the seed has it, or only as many as it
   * needs, the last placed first.
   */
  readonly inTheWay: 'covered' | 'needed';
}

/** What holds of a resource unless its owner says otherwise. */
export const resourceDefaults: Omit<ReservableResource, 'kind' | 'capacity'> = {
  capPpm: wholePpm,
  durationMax: undefined,
  userMax: undefined,
  algorithm: 'suvs',
  placement: 'first-fit',
  movesMax: 16,
  inTheWay: 'needed',
};

/** How much of a resource can be reserved at once: the owner's share, rounded down, but never nothing. */
export function getOffered({ capacity, capPpm }: ReservableResource): number {
  const whole = Math.floor(capacity / wholePpm);
  // In two steps, so that no product is beyond what a number holds exactly.
  return Math.max(1, whole * capPpm + Math.floor(((capacity - whole * wholePpm) * capPpm) / wholePpm));
}

/** Why a resource cannot be registered, if there is a reason. */
export function findResourceFault(resource: ReservableResource): Fault | undefined {
  const { kind, capacity, capPpm, durationMax = 1, userMax = 1, movesMax } = resource;
  const faults: [boolean, Fault][] = [
    [!Number.isSafeInteger(capacity) || capacity < 1, { code: 'resource-capacity-invalid', capacity }],
    [
      kind === 'counted' && capacity > countMax,
      { code: 'resource-units-too-many', units: capacity, unitsMax: countMax },
    ],
    [
      !Number.isInteger(capPpm) || capPpm < 1 || capPpm > wholePpm,
      { code: 'resource-offer-invalid', offeredPpm: capPpm, ppmMax: wholePpm },
    ],
    [!(durationMax > 0), { code: 'resource-duration-max-invalid', durationMsMax: durationMax }],
    [!(userMax > 0), { code: 'resource-user-amount-max-invalid', amountMax: userMax }],
    [!Number.isInteger(movesMax) || movesMax < 0, { code: 'resource-moves-max-invalid', movesMax }],
  ];
  return faults.find(([isFault]) => isFault)?.[1];
}

/** Identical resources that one calendar keeps apart. */
const countMax = 1_000_000;

/** @throws {InvariantError} when something is wrong with a resource. */
export function checkResource(resource: ReservableResource): void {
  const fault = findResourceFault(resource);
  invariant(fault === undefined, () => JSON.stringify(fault));
}
