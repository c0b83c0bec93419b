import { setTimeout as pause } from 'node:timers/promises';
import { MutiraoError } from '@mutirao/api/errors';
import type { SiteReservation } from '@mutirao/core/messages';
import type { Instant } from '@mutirao/core/shared';
import type { SiteReservationListing, SiteReservations } from '../site-reservations.ts';
import { getRefusalWords, type OarCommands } from './oar-commands.ts';
import { formatSpan, type OarJob } from './parse-oar.ts';

/** Of whose reservations, and where. */
export interface OarReservationsOptions {
  readonly commands: OarCommands;
  /** Before our number in the names of the jobs. */
  readonly prefix: string;
  /** Whose jobs they are. */
  readonly user: string;
  /** Flags of `oarsub` that say which queue, resources and project. */
  readonly where: readonly string[];
  /** Jobs that wait or run. */
  jobs(): Promise<readonly OarJob[]>;
  now(): Instant;
}

/** A reservation, and the job that it is at OAR. */
interface ReservedJob {
  readonly jobId: string;
  readonly reservation: SiteReservation;
}

const second = 1000;
const lookInterval = 500;
/** What comes after it is tried all the same. */
const deletionMax = 20 * second;
/** OAR takes no reservation for a time that has passed; one for now is requested this long ahead. */
const leadOfNow = 3 * second;
/** OAR starts a reservation when its scheduler runs next, which it does each minute at least. */
const startDelayMax = 90 * second;

/**
 * Advance reservations by `oarsub -r`. A reservation of OAR is a job: ours run nothing (`noop`) and hold resources for
 * other jobs (`container`); requests are jobs of the type `inner`.
 */
export class OarReservations implements SiteReservations {
  readonly #options: OarReservationsOptions;

  constructor(options: OarReservationsOptions) {
    this.#options = options;
  }

  /**
   * The job to run a request inside of. OAR would leave a request that is too wide waiting for ever.
   *
   * @throws {MutiraoError} MUT_NO_ROOM where OAR has no such reservation, or one of fewer processors.
   */
  async getContainer(reservationId: number, width: number): Promise<string> {
    const found = (await this.#newest()).get(reservationId);
    const name = `${this.#options.prefix}${reservationId}`;
    if (found === undefined) throw new MutiraoError('MUT_NO_ROOM', `OAR has no reservation "${name}"`);
    const { jobId, reservation } = found;
    if (reservation.count < width)
      throw new MutiraoError(
        'MUT_NO_ROOM',
        `the reservation "${name}" of OAR (job ${jobId}) has ${reservation.count} processors; ${width} do not fit`,
      );
    return jobId;
  }

  async list(): Promise<SiteReservationListing> {
    const newest = await this.#newest();
    return { reservations: [...newest.values()].map(({ reservation }) => reservation), granularity: 1 };
  }

  async make({ reservationId, count, startsAt, endsAt }: SiteReservation): Promise<void> {
    const { commands, prefix, where, now } = this.#options;
    const begin = Math.max(startsAt, Math.ceil((now() + leadOfNow) / second) * second);
    const seconds = Math.max(1, Math.floor((endsAt - begin) / second));
    const answer = await commands.run(
      'oarsub',
      [
        ...where,
        ...['-n', `${prefix}${reservationId}`, '-r', findTime(begin), '-t', 'container', '-t', 'noop'],
        ...['-l', `/resource_id=${count},walltime=${formatSpan(seconds)}`],
      ],
      // It reads times in the zone of its environment.
      { TZ: 'UTC' },
    );
    if (answer.status !== 0) throw new MutiraoError('MUT_BAD_REQUEST', `oarsub: ${getRefusalWords(answer)}`);
  }

  /**
   * OAR changes no reservation: another one is made, and the first one deleted. Where there is no room for both at a
   * time, the first one is deleted before. One that has begun stays as it is, since its jobs would end with it.
   */
  async move(reservation: SiteReservation): Promise<void> {
    const before = (await this.#newest()).get(reservation.reservationId);
    if (before === undefined) return this.make(reservation);
    if (before.reservation.startsAt <= this.#options.now())
      throw new MutiraoError('MUT_BAD_REQUEST', 'oarsub: OAR does not change a reservation that has begun');
    try {
      await this.make(reservation);
      await this.#delete([before.jobId]);
    } catch (error) {
      if (!(error instanceof MutiraoError && noRoom.test(error.message))) throw error;
      await this.#delete([before.jobId]);
      await this.#untilGone(before.jobId);
      await this.#makeOrRestore(reservation, before.reservation);
    }
  }

  async remove(reservationId: number): Promise<void> {
    const jobIds = (await this.#read())
      .filter(({ reservation }) => reservation.reservationId === reservationId)
      .map(({ jobId }) => jobId);
    if (jobIds.length > 0) await this.#delete(jobIds);
  }

  /** OAR deletes after it has answered, and what it deletes has its resources until then. */
  async #untilGone(jobId: string): Promise<void> {
    for (let waited = 0; waited < deletionMax; waited += lookInterval) {
      const jobs = await this.#options.jobs();
      if (!jobs.some(({ request }) => request.managerRequestId === jobId)) return;
      await pause(lookInterval);
    }
  }

  async #makeOrRestore(reservation: SiteReservation, before: SiteReservation): Promise<void> {
    try {
      await this.make(reservation);
    } catch (error) {
      await this.make(before);
      throw error;
    }
  }

  /** One that was moved while the provider ended may be there twice: the later one counts, the other is deleted. */
  async #newest(): Promise<ReadonlyMap<number, ReservedJob>> {
    const newest = new Map<number, ReservedJob>();
    const earlier: string[] = [];
    for (const reserved of await this.#read()) {
      const before = newest.get(reserved.reservation.reservationId);
      if (before !== undefined) earlier.push(before.jobId);
      newest.set(reserved.reservation.reservationId, reserved);
    }
    if (earlier.length > 0) await this.#delete(earlier);
    return newest;
  }

  /** In the order in which they were made. */
  async #read(): Promise<readonly ReservedJob[]> {
    const { prefix, user } = this.#options;
    return (await this.#options.jobs()).flatMap((job) => {
      const number = job.name.startsWith(prefix) ? job.name.slice(prefix.length) : '';
      return job.request.userId === user && job.isContainer && /^\d{1,15}$/.test(number)
        ? [{ jobId: job.request.managerRequestId, reservation: findReservation(job, Number(number)) }]
        : [];
    });
  }

  /** Also ends what runs inside, which OAR does only where its administrators say so. */
  async #delete(jobIds: readonly string[]): Promise<void> {
    const inside = (await this.#options.jobs())
      .filter(({ container, request }) => jobIds.includes(container) && request.userId === this.#options.user)
      .map(({ request }) => request.managerRequestId);
    const [words] = (await this.#options.commands.delete([...inside, ...jobIds])).values();
    if (words !== undefined) throw new MutiraoError('MUT_BAD_REQUEST', words);
  }
}

/**
 * A job that starts late by what OAR's scheduler takes keeps its end; but one that OAR has scheduled only after the
 * start that was asked for ends later, by as much. So what was asked for counts, unless OAR ends it before. One that was
 * asked for to begin at once has begun for us, whenever OAR starts it.
 */
function findReservation({ request, submission }: OarJob, reservationId: number): SiteReservation {
  const { width: count, walltime, submittedAt, startsAt: begin, status } = request;
  const asked = windowAsked(submission) ?? { startsAt: begin, endsAt: begin + walltime };
  const isAtOnce = status === 'queued' && asked.startsAt - submittedAt <= 2 * leadOfNow;
  return {
    reservationId,
    count,
    startsAt: isAtOnce ? submittedAt : status === 'queued' ? asked.startsAt : begin,
    endsAt: begin === 0 ? asked.endsAt : Math.min(asked.endsAt, begin + walltime),
  };
}

/** The time that a reservation of Mutirao was asked for; undefined where the command is another one. */
function windowAsked(submission: string): Pick<SiteReservation, 'startsAt' | 'endsAt'> | undefined {
  const [, day, time, hours, minutes, seconds] =
    / -r (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) .*,walltime=(\d{1,7}):(\d{1,2}):(\d{1,2})$/.exec(submission.trim()) ?? [];
  if (day === undefined || time === undefined) return undefined;
  const startsAt = Date.parse(`${day}T${time}Z`);
  return { startsAt, endsAt: startsAt + ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * second };
}

/**
 * The walltime of a request inside a reservation. OAR starts the reservation and the request when its scheduler runs
 * next, and starts no job that would outlast its container: so that one fits that starts late, some of the time is
 * left out.
 */
export function walltimeInside(
  {
    walltime,
    reservation,
  }: { readonly walltime: number; readonly reservation: { startsAt: Instant; endsAt: Instant } },
  now: Instant,
): number {
  const room = reservation.endsAt - Math.max(now, reservation.startsAt);
  const most = room - Math.min(startDelayMax, room / 3);
  return Math.max(second, Math.floor(Math.min(walltime, most) / second) * second);
}

/** Also by OAR's own rule of two reservations of a user that wait. */
const noRoom = /reservation not valid|not enough resources|cannot have more than \d+ waiting/i;

/** An instant in universal time, as `oarsub` under `TZ=UTC` reads it. */
function findTime(instant: Instant): string {
  return new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
}
