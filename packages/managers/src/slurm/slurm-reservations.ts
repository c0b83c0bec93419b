import { MutiraoError } from '@mutirao/api/errors';
import type { SiteReservation } from '@mutirao/core/messages';
import type { Instant, ProcessorCount } from '@mutirao/core/shared';
import { listWords } from '../run-tool.ts';
import type { SiteReservationListing, SiteReservations } from '../site-reservations.ts';
import { parseReservations, parseThreadsPerCore } from './parse-reservations.ts';
import type { SlurmCommands } from './slurm-commands.ts';

/** Of whose reservations, and where. */
export interface SlurmReservationsOptions {
  readonly slurm: SlurmCommands;
  /** Before our number in the names of Slurm's reservations. */
  readonly prefix: string;
  /** The user that they are for. */
  readonly user: string;
  /** Name of the partition. */
  partition(): Promise<string>;
  now(): Instant;
}

/** Reservations by `scontrol`, which Slurm lets its operators make, and users that its administrators name. */
export class SlurmReservations implements SiteReservations {
  readonly #options: SlurmReservationsOptions;
  #threadsPerCore: ProcessorCount = 0;

  constructor(options: SlurmReservationsOptions) {
    this.#options = options;
  }

  /** What Slurm calls a reservation. */
  nameOf(reservationId: number): string {
    return `${this.#options.prefix}${reservationId}`;
  }

  async list(): Promise<SiteReservationListing> {
    const { slurm, prefix, partition } = this.#options;
    if (this.#threadsPerCore === 0) {
      this.#threadsPerCore = parseThreadsPerCore(
        await slurm.read('sinfo', ['--noheader', '--Node', `--partition=${await partition()}`, '--format=%Z']),
      );
    }
    const output = await slurm.read('scontrol', ['--oneliner', 'show', 'reservation']);
    const reservations = parseReservations(output, prefix, this.#threadsPerCore);
    if (reservations === undefined)
      throw new MutiraoError('MUT_UNREACHABLE', `scontrol did not print reservations: ${listWords(output)}`);
    return { reservations, granularity: this.#threadsPerCore };
  }

  async make(reservation: SiteReservation): Promise<void> {
    const { user, partition } = this.#options;
    const { reservationId, count } = reservation;
    await this.#order([
      'create',
      'reservation',
      `ReservationName=${this.nameOf(reservationId)}`,
      `StartTime=${this.#startOf(reservation) ?? 'now'}`,
      `EndTime=${findTime(reservation.endsAt)}`,
      `Users=${user}`,
      `CoreCnt=${Math.ceil(count / Math.max(1, this.#threadsPerCore))}`,
      `PartitionName=${await partition()}`,
    ]);
  }

  async move(reservation: SiteReservation): Promise<void> {
    const start = this.#startOf(reservation);
    await this.#order([
      'update',
      'reservation',
      `ReservationName=${this.nameOf(reservation.reservationId)}`,
      ...(start === undefined ? [] : [`StartTime=${start}`]),
      `EndTime=${findTime(reservation.endsAt)}`,
    ]);
  }

  async remove(reservationId: number): Promise<void> {
    const name = this.nameOf(reservationId);
    const words = await this.#delete(name);
    if (words === '' || isUnknown.test(words)) return;
    if (!isInUse.test(words)) throw getRefusal(words);
    await this.#options.slurm.run('scancel', [`--reservation=${name}`, `--user=${this.#options.user}`]);
    throw new MutiraoError('MUT_RESERVATION_OVER', `scontrol: ${words}; jobs inside it are being cancelled`);
  }

  /** What Slurm said against it; empty when it is done. */
  async #delete(name: string): Promise<string> {
    const { status, stdout, stderr } = await this.#options.slurm.run('scontrol', ['delete', `ReservationName=${name}`]);
    return status === 0 ? '' : listWords(stderr === '' ? stdout : stderr);
  }

  async #order(args: readonly string[]): Promise<void> {
    const { status, stdout, stderr } = await this.#options.slurm.run('scontrol', args);
    if (status !== 0) throw getRefusal(listWords(stderr === '' ? stdout : stderr));
  }

  /** Undefined where it has passed: Slurm begins nothing in the past. */
  #startOf({ startsAt }: SiteReservation): string | undefined {
    return startsAt <= this.#options.now() ? undefined : findTime(startsAt);
  }
}

const isUnknown = /reservation is invalid|not found/i;
const isInUse = /reservation is in use/i;

function getRefusal(words: string): MutiraoError {
  const code = /unable to contact|timed? ?out|connection/i.test(words) ? 'MUT_UNREACHABLE' : 'MUT_BAD_REQUEST';
  return new MutiraoError(code, `scontrol: ${words}`);
}

/** An instant in universal time, as commands under `TZ=UTC` read it; the part of a second is left out. */
function findTime(instant: Instant): string {
  return new Date(instant).toISOString().slice(0, 19);
}
