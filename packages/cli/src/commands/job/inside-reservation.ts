import { MutiraoError } from '@mutirao/api/errors';
import { readClaim } from '@mutirao/api/codecs';
import { ReservationStatus } from '@mutirao/api/reservation';
import type { AfterReservation, JobReservation, JobSpec } from '@mutirao/core/messages';

import type { CommandContext } from '../../context.ts';
import { openManager, readReservationId } from '../../reservations/show-reservation.ts';
import { nameOf } from '../../wire/names.ts';
import { reserveForDeadline } from './reserve-for-deadline.ts';

/** What `job submit` takes for a job inside a reservation. */
export interface InsideOptions {
  /** `false` where none is to be asked for. */
  readonly reservation?: string | false;
  readonly reservations?: string;
  readonly afterReservation?: AfterReservation;
  readonly taskTime?: string;
}

/** The job, inside the reservation that the options name, or with the one that its deadline asks for. @throws {MutiraoError} why that cannot be used, with what would be possible. */
export async function reserveFor(context: CommandContext, job: JobSpec, options: InsideOptions): Promise<JobSpec> {
  const { reservation, afterReservation: after = 'go-on' } = options;
  if (typeof reservation !== 'string') {
    refuseLeftover(job, options);
    const { deadline } = job;
    return deadline === undefined || reservation === false ? job : reserveForDeadline(context, { ...job, deadline }, options);
  }
  if (options.taskTime !== undefined) throw new MutiraoError('MUT_BAD_REQUEST', '--task-time beside --reservation, which is there already; want --deadline with it');
  const claim = reservation.includes('.') ? reservation : await fetchClaim(context, reservation, options.reservations);
  const inside: JobReservation = { ...readClaim(claim), after };
  return { ...job, reservation: inside };
}

/** @throws {MutiraoError} MUT_BAD_REQUEST for options that have nothing to do. */
function refuseLeftover(job: JobSpec, { reservation, reservations, afterReservation, taskTime }: InsideOptions): void {
  if (afterReservation !== undefined) throw new MutiraoError('MUT_BAD_REQUEST', '--after-reservation without --reservation; want the reservation that the job runs inside');
  const given = [...(reservations === undefined ? [] : ['--reservations']), ...(taskTime === undefined ? [] : ['--task-time'])].join(', ');
  if (given === '') return;
  if (reservation === false) throw new MutiraoError('MUT_BAD_REQUEST', `${given} beside --no-reservation; want one of them`);
  if (job.deadline === undefined) throw new MutiraoError('MUT_BAD_REQUEST', `${given} without --reservation or --deadline; want the reservation that the job runs inside, or when it should be done`);
}

/** A reservation's claim, as its manager tells its user. */
async function fetchClaim(context: CommandContext, text: string, managerName: string | undefined): Promise<string> {
  const reservationId = readReservationId(text);
  const manager = await openManager(context, managerName);
  const found = (await manager.getReservation({ reservationId })).reservation;
  if (found === undefined) throw new MutiraoError('MUT_NOT_FOUND', `there is no reservation ${reservationId} of yours; "mutirao reservation list" shows those that there are`);
  const { status, reason, claim } = found;
  if (status === ReservationStatus.HELD) throw new MutiraoError('MUT_CLAIM_UNCONFIRMED', `reservation ${reservationId} is only held; want "mutirao reservation confirm ${reservationId}" first`);
  if (status !== ReservationStatus.CONFIRMED && status !== ReservationStatus.CLAIMED) {
    throw new MutiraoError('MUT_RESERVATION_OVER', `reservation ${reservationId} is ${nameOf(ReservationStatus, status)}${reason === '' ? '' : ` (${reason})`}; want one that is confirmed or claimed`);
  }
  return claim;
}
