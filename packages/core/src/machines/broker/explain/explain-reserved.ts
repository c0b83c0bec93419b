import { describeProvisioning, isOfReservation, type JobReservation } from '../../../messages/index.ts';
import type { Reason } from '../../../reasons/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { describeDraining } from './explain-draining.ts';
import { describeRequests } from './explain-request.ts';
import type { Detail, WaitExplanation } from './explanation.ts';
import { getAmount, belongsTo, runsBeside, getWindow } from '../reservations/reserved-place.ts';
import { describeTime } from './sentences.ts';
import type { BrokerJob, BrokerState } from '../state.ts';

/**
 * Says why ready tasks of a job do not run yet because of its reservation; undefined where that has nothing to do with
 * it.
 */
export function explainReservedWaiting(state: BrokerState, job: BrokerJob, now: Instant): WaitExplanation | undefined {
  const { reservation, reservationOver, jobId } = job;
  if (reservation === undefined || runsBeside(job)) return undefined;
  const name = nameOf(job);
  if (reservationOver !== undefined) {
    return {
      summary: `${name} is over, and what is left waits, as was chosen.`,
      details: [`"mutirao job retry ${jobId}" lets it go on wherever there is a machine.`],
    };
  }
  const { resourceId } = reservation;
  const { startsAt } = getWindow(state, reservation);
  const requests = describeRequests(
    state,
    now,
    (request) => request.reservation !== undefined && belongsTo(job, request.reservation),
  );
  if (![...state.providers.values()].some((provider) => provider.isConnected && provider.resourceId === resourceId)) {
    return {
      summary: `it waits for ${name}, and no provider of that resource is there.`,
      details: ['"mutirao provider list" shows those that are known.'],
    };
  }
  const drains = describeDraining(
    [...state.providers.values()].filter((provider) => provider.resourceId === resourceId),
  );
  const details = [
    ...(drains === undefined ? [] : [`Nothing is placed there now: ${drains}.`]),
    ...describeHeld(state, reservation),
    ...requests,
  ];
  if (now < startsAt)
    return { summary: `it waits for ${name}, which begins in ${describeTime(startsAt - now)}.`, details };
  const isThere = [...state.machines.values()].some(({ facts }) => belongsTo(job, facts.reservation));
  return isThere ? undefined : { summary: `the machines of ${name} are not there yet.`, details };
}

/** Says where a job's tasks run, or why they no longer run there; nothing for a job that never had a reservation. */
export function explainReservation(state: BrokerState, job: BrokerJob, now: Instant): Detail[] {
  const { reservation, reservationOver } = job;
  if (reservation === undefined) return [];
  const name = nameOf(job);
  if (reservationOver !== undefined) {
    const then = reservationOver.waits ? 'what was left waits' : 'what was left went on wherever there is a machine';
    return [
      `${name} was over ${describeTime(Math.max(0, reservationOver.at - job.submittedAt))} after the submission ` +
        `(${reservationOver.code}); ${then}.`,
      reservationOver.reason,
    ];
  }
  const { startsAt, endsAt } = getWindow(state, reservation);
  const rest = describeTime(Math.max(0, endsAt - now));
  if (reservation.isOwn === true) {
    const when = now < startsAt ? `begins in ${describeTime(startsAt - now)}` : `lasts another ${rest}`;
    return [
      `Its tasks run wherever there is a machine, and inside ${name} too, ${getAmount(state, reservation)} ` +
        `processors reserved to meet its deadline, which ${when}.`,
    ];
  }
  return [
    `Its tasks run inside ${name} only, until it ends in ${rest}; then what is left ` +
      `${reservation.after === 'wait' ? 'waits' : 'goes on as an ordinary job'}.`,
  ];
}

/** What its provider tells that it holds ahead for a reservation; nothing where it tells nothing. */
function describeHeld({ providers }: BrokerState, reservation: JobReservation): Reason[] {
  const resourceStatus = [...providers.values()]
    .flatMap(({ statuses }) => statuses)
    .find((one) => isOfReservation(reservation, one.reservation));
  return resourceStatus === undefined
    ? []
    : describeProvisioning(resourceStatus.ahead, { count: resourceStatus.amount, startsAt: resourceStatus.startsAt });
}

function nameOf({ reservation }: BrokerJob): string {
  return `reservation ${reservation?.reservationId ?? 0} of ${reservation?.resourceId ?? ''}`;
}
