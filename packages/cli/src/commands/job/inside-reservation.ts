import { MutiraoError } from '@mutirao/api/errors';
import { readClaim } from '@mutirao/api/codecs';
import type { OnReservationEnd, JobReservation, JobSpec } from '@mutirao/core/messages';

import type { CommandContext } from '../../context.ts';
import { fetchClaim } from '../../reservations/fetch-claim.ts';
import { openManager } from '../../reservations/show-reservation.ts';
import { reserveForDeadline } from './reserve-for-deadline.ts';

/** What `job submit` takes for a job inside a reservation. */
export interface InsideOptions {
  /** `false` for no reservation. */
  readonly reservation?: string | false;
  readonly reservations?: string;
  readonly onReservationEnd?: OnReservationEnd;
  readonly taskTime?: string;
}

/**
 * The job, inside the reservation that the options name, or with the one that its deadline asks for. @throws
 * {MutiraoError} why that cannot be used, with what would be possible.
 */
export async function reserveFor(context: CommandContext, job: JobSpec, options: InsideOptions): Promise<JobSpec> {
  const { reservation, onReservationEnd: after = 'continue' } = options;
  if (typeof reservation !== 'string') {
    refuseLeftover(job, options);
    const { deadline } = job;
    return deadline === undefined || reservation === false
      ? job
      : reserveForDeadline(context, { ...job, deadline }, options);
  }
  if (options.taskTime !== undefined && !hasAlternatives(job))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      '--task-time needs --deadline; with --reservation there is nothing to size',
    );
  const claim = await fetchClaim(reservation, () => openManager(context, options.reservations));
  const inside: JobReservation = { ...readClaim(claim), after };
  return { ...job, reservation: inside };
}

/** @throws {MutiraoError} MUT_BAD_REQUEST for options that have nothing to do. */
function refuseLeftover(job: JobSpec, { reservation, reservations, onReservationEnd, taskTime }: InsideOptions): void {
  if (onReservationEnd !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      '--on-reservation-end without --reservation; expected the reservation that the job runs inside',
    );
  const given = [
    ...(reservations === undefined ? [] : ['--reservations']),
    ...(taskTime === undefined || hasAlternatives(job) ? [] : ['--task-time']),
  ].join(', ');
  if (given === '') return;
  if (reservation === false)
    throw new MutiraoError('MUT_BAD_REQUEST', `${given} cannot be used with --no-reservation; expected one of them`);
  if (job.deadline === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${given} without --reservation or --deadline; expected the reservation that the job runs inside, or when it ` +
        'should be done',
    );
}

/** Requests of one task are compared by their times. */
function hasAlternatives({ groups }: JobSpec): boolean {
  return groups.some(({ alternatives }) => alternatives !== undefined);
}
