import { describeProvisioning, isOfReservation, type JobReservation } from '../../../messages/index.ts';
import type { Reason } from '../../../reasons/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { describeDraining } from './explain-draining.ts';
import { describeRequests } from './explain-request.ts';
import type { Waiting } from './explanation.ts';
import { getAmount, belongsTo, runsBeside, getWindow } from '../reservations/reserved-place.ts';
import type { BrokerJob, BrokerState } from '../state.ts';

/**
 * Says why ready tasks of a job do not run yet because of its reservation; undefined where that has nothing to do with
 * it.
 */
export function explainReservedWaiting(state: BrokerState, job: BrokerJob, now: Instant): Waiting | undefined {
  const { reservation, reservationOver, jobId } = job;
  if (reservation === undefined || runsBeside(job)) return undefined;
  const { reservationId, resourceId } = reservation;
  const name = { reservationId, resourceId };
  if (reservationOver !== undefined)
    return { why: { code: 'reservation-over-waits', ...name }, details: [{ code: 'advise-job-retry', jobId }] };
  const { startsAt } = getWindow(state, reservation);
  const providers = [...state.providers.values()].filter((provider) => provider.resourceId === resourceId);
  if (!providers.some(({ isConnected }) => isConnected))
    return { why: { code: 'reservation-provider-absent', ...name }, details: [] };
  const details = [
    ...describeDraining(providers),
    ...describeHeld(state, reservation),
    ...describeRequests(
      state,
      now,
      (request) => request.reservation !== undefined && belongsTo(job, request.reservation),
    ),
  ];
  if (now < startsAt) return { why: { code: 'reservation-begins', ...name, startMs: startsAt - now }, details };
  const isThere = [...state.machines.values()].some(({ facts }) => belongsTo(job, facts.reservation));
  return isThere ? undefined : { why: { code: 'reservation-machines-absent', ...name }, details };
}

/** Says where a job's tasks run, or why they no longer run there; nothing for a job that never had a reservation. */
export function explainReservation(state: BrokerState, job: BrokerJob, now: Instant): Reason[] {
  const { reservation, reservationOver } = job;
  if (reservation === undefined) return [];
  const { reservationId, resourceId } = reservation;
  const name = { reservationId, resourceId };
  if (reservationOver !== undefined)
    return [
      {
        code: 'reservation-was-over',
        ...name,
        afterMs: Math.max(0, reservationOver.at - job.submittedAt),
        endCode: reservationOver.code,
        tasksWait: reservationOver.waits,
      },
      reservationOver.reason,
    ];
  const { startsAt, endsAt } = getWindow(state, reservation);
  const restMs = Math.max(0, endsAt - now);
  if (reservation.isOwn !== true)
    return [{ code: 'reservation-inside', ...name, leftMs: restMs, tasksWait: reservation.after === 'wait' }];
  const isBegun = now >= startsAt;
  return [
    {
      code: 'reservation-own',
      ...name,
      reservedProcessors: getAmount(state, reservation),
      isBegun,
      leftMs: isBegun ? restMs : startsAt - now,
    },
  ];
}

/** What its provider reports as pre-acquired for a reservation; empty without a report. */
function describeHeld({ providers }: BrokerState, reservation: JobReservation): Reason[] {
  const resourceStatus = [...providers.values()]
    .flatMap(({ statuses }) => statuses)
    .find((one) => isOfReservation(reservation, one.reservation));
  return resourceStatus === undefined
    ? []
    : describeProvisioning(resourceStatus.ahead, { count: resourceStatus.amount, startsAt: resourceStatus.startsAt });
}
