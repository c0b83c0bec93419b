import type { RequestOrder } from '../../messages/index.ts';
import { describeExactTime } from '../../shared/index.ts';
import { roundWalltime, type ClusterState } from './state.ts';

/**
 * Why an order is not taken: a code of the error registry, and a sentence with the value found and the value wanted.
 */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/**
 * Finds the first reason not to take an order; undefined when there is none.
 *
 * @source costa2005, Table 5.1: the limits maxPR (running and queued together), maxP and maxT_r of one user.
 * Departs from the source: walltimes are rounded up to the granularity before they are compared.
 */
export function findRefusal(state: ClusterState, order: RequestOrder): Refusal | undefined {
  return (
    findNonsense(order) ??
    (order.reservationId === undefined ? findExcess(state, order) : findMisfit(state, order, order.reservationId)) ??
    findCrowd(state, order)
  );
}

function findNonsense({ userId, width, walltime, command }: RequestOrder): Refusal | undefined {
  if (userId === '') return bad('user_id is empty');
  if ((command[0] ?? '') === '') return bad('command is empty');
  if (!Number.isInteger(width) || width < 1) return bad(`width is ${width}; expected 1 or more`);
  if (!Number.isInteger(walltime) || walltime < 1) return bad(`walltime is ${walltime} ms; expected 1 or more`);
  return undefined;
}

function findExcess({ options }: ClusterState, { width, walltime }: RequestOrder): Refusal | undefined {
  const widest = Math.min(options.widthMax, options.processors);
  if (width > widest) return { code: 'MUT_WIDTH_MAX', message: `width is ${width}; expected at most ${widest}` };
  const rounded = roundWalltime(walltime, options.walltimeGranularity);
  if (rounded > options.walltimeMax) {
    return {
      code: 'MUT_WALLTIME_MAX',
      message: `walltime is ${describeExactTime(rounded)}; expected at most ${describeExactTime(options.walltimeMax)}`,
    };
  }
  return undefined;
}

/** Inside a reservation its count and its time are the limits: its owner has agreed to them. */
function findMisfit(
  { reservations }: ClusterState,
  { userId, width, walltime }: RequestOrder,
  reservationId: number,
): Refusal | undefined {
  const reservation = reservations.get(reservationId);
  if (reservation === undefined)
    return { code: 'MUT_RESERVATION_OVER', message: `reservation ${reservationId} is over, or none of this cluster` };
  const { count, startsAt, endsAt } = reservation;
  if (reservation.userId !== userId)
    return {
      code: 'MUT_CLAIM_NOT_YOURS',
      message: `reservation ${reservationId} is ${reservation.userId}'s; the request is ${userId}'s`,
    };
  if (width > count)
    return {
      code: 'MUT_RESERVATION_EXCEEDED',
      message: `width is ${width}; reservation ${reservationId} has ${count}`,
    };
  if (walltime <= endsAt - startsAt) return undefined;
  return {
    code: 'MUT_RESERVATION_EXCEEDED',
    message:
      `walltime is ${describeExactTime(walltime)}; reservation ${reservationId} lasts ` +
      `${describeExactTime(endsAt - startsAt)}`,
  };
}

function findCrowd({ options, livingCounts }: ClusterState, { userId }: RequestOrder): Refusal | undefined {
  const living = livingCounts.get(userId) ?? 0;
  if (living < options.requestsMax) return undefined;
  return {
    code: 'MUT_REQUESTS_MAX',
    message: `${userId} has ${living} requests queued or running; expected at most ${options.requestsMax}`,
  };
}

function bad(message: string): Refusal {
  return { code: 'MUT_BAD_REQUEST', message };
}
