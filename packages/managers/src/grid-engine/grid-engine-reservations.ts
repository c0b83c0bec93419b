import { MutiraoError } from '@mutirao/api/errors';
import type { SiteReservation } from '@mutirao/core/messages';
import type { Instant } from '@mutirao/core/shared';
import { listWords } from '../run-tool.ts';
import type { SiteReservationListing, SiteReservations } from '../site-reservations.ts';
import { saidBy, type GridEngineCommands } from './grid-engine-commands.ts';
import { parseReservations, parseSummaries, type GrantedReservation } from './parse-reservations.ts';

/** Of whose reservations, and where. */
export interface GridEngineReservationsOptions {
  readonly commands: GridEngineCommands;
  /** Before our number in the names of Grid Engine's reservations. */
  readonly prefix: string;
  /** The user that they are for. */
  readonly user: string;
  /** The parallel environment, and flags that name the queue. */
  where(): Promise<{ readonly environment: string; readonly queue: readonly string[] }>;
  now(): Instant;
}

/** Advance reservations by `qrsub`, which Grid Engine grants to its managers and to the users of the list `arusers`. */
export class GridEngineReservations implements SiteReservations {
  readonly #options: GridEngineReservationsOptions;
  /** Grid Engine's numbers of reservations, by ours. */
  #numbers = new Map<number, string>();

  constructor(options: GridEngineReservationsOptions) {
    this.#options = options;
  }

  /** Grid Engine's number of a reservation. @throws {MutiraoError} MUT_NO_ROOM where it has none. */
  async getNumber(reservationId: number): Promise<string> {
    if (!this.#numbers.has(reservationId)) await this.list();
    const number = this.#numbers.get(reservationId);
    if (number === undefined)
      throw new MutiraoError('MUT_NO_ROOM', `Grid Engine has no reservation "${this.#options.prefix}${reservationId}"`);
    return number;
  }

  /** One that was moved while the provider ended may be there twice: the later one counts. */
  async list(): Promise<SiteReservationListing> {
    const newest = new Map<number, GrantedReservation>();
    const earlier: string[] = [];
    for (const granted of await this.#read()) {
      const before = newest.get(granted.reservation.reservationId);
      if (before !== undefined) earlier.push(before.number);
      newest.set(granted.reservation.reservationId, granted);
    }
    if (earlier.length > 0) await this.#delete(earlier);
    this.#numbers = new Map([...newest].map(([reservationId, { number }]) => [reservationId, number]));
    return { reservations: [...newest.values()].map(({ reservation }) => reservation), granularity: 1 };
  }

  async make(reservation: SiteReservation): Promise<void> {
    const { prefix, user, now, where } = this.#options;
    const { environment, queue } = await where();
    const { reservationId, count, startsAt, endsAt } = reservation;
    const answer = await this.#options.commands.run('qrsub', [
      '-N',
      `${prefix}${reservationId}`,
      ...(environment === '' ? [] : ['-pe', environment, String(count)]),
      ...queue,
      '-u',
      user,
      // It grants nothing that begins in the past.
      ...(startsAt <= now() ? [] : ['-a', findTime(startsAt)]),
      '-e',
      findTime(endsAt),
    ]);
    const [, number] = /advance reservation (\d+) has been granted/i.exec(answer.stdout) ?? [];
    if (answer.status !== 0) throw new MutiraoError('MUT_BAD_REQUEST', `qrsub: ${saidBy(answer)}`);
    if (number === undefined)
      throw new MutiraoError('MUT_UNREACHABLE', `qrsub did not print a reservation: ${listWords(answer.stdout)}`);
    this.#numbers.set(reservationId, number);
  }

  /**
   * Grid Engine changes no reservation: another one is made, and the first one deleted. Where there is no room for both
   * at a time, the first one is deleted before.
   * One that has begun stays as it is, since its jobs would end with it.
   */
  async move(reservation: SiteReservation): Promise<void> {
    const { reservationId } = reservation;
    const before = (await this.list()).reservations.find((one) => one.reservationId === reservationId);
    const number = await this.getNumber(reservationId);
    if (before !== undefined && before.startsAt <= this.#options.now())
      throw new MutiraoError('MUT_BAD_REQUEST', 'qrsub: Grid Engine does not change a reservation that has begun');
    try {
      await this.make(reservation);
      await this.#delete([number]);
    } catch (error) {
      if (!(error instanceof MutiraoError && noRoom.test(error.message)) || before === undefined) throw error;
      await this.#delete([number]);
      await this.#makeOrRestore(reservation, before);
    }
  }

  async remove(reservationId: number): Promise<void> {
    const numbers = (await this.#read())
      .filter(({ reservation }) => reservation.reservationId === reservationId)
      .map(({ number }) => number);
    this.#numbers.delete(reservationId);
    if (numbers.length > 0) await this.#delete(numbers);
  }

  async #makeOrRestore(reservation: SiteReservation, before: SiteReservation): Promise<void> {
    try {
      await this.make(reservation);
    } catch (error) {
      await this.make(before);
      throw error;
    }
  }

  /** In the order in which they were granted. */
  async #read(): Promise<readonly GrantedReservation[]> {
    const { commands, prefix, user } = this.#options;
    const numbers = parseSummaries(await commands.readXml('qrstat', ['-u', user]), prefix);
    if (numbers.length === 0) return [];
    const granted = parseReservations(await commands.readXml('qrstat', ['-ar', numbers.join(',')]), prefix);
    if (granted === undefined) throw new MutiraoError('MUT_UNREACHABLE', 'qrstat did not print reservations');
    return granted;
  }

  /** Ends what runs inside, too. */
  async #delete(numbers: readonly string[]): Promise<void> {
    const answer = await this.#options.commands.run('qrdel', numbers);
    if (answer.status !== 0 && !/does not exist|already in deletion/i.test(answer.stdout + answer.stderr))
      throw new MutiraoError('MUT_BAD_REQUEST', `qrdel: ${saidBy(answer)}`);
  }
}

const noRoom = /no suitable queues/i;

/** An instant in universal time, as commands under `TZ=UTC` read it: CCYYMMDDhhmm.SS. */
function findTime(instant: Instant): string {
  const [date = '', time = ''] = new Date(instant).toISOString().slice(0, 19).split('T');
  return `${date.replaceAll('-', '')}${time.slice(0, 5).replace(':', '')}.${time.slice(6)}`;
}
