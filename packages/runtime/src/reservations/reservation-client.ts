import { setTimeout as pause } from 'node:timers/promises';
import { badRequest, decodeClaimKeys, decodeReservedWindow, encodeProvisioning } from '@mutirao/api/codecs';
import { errorOfCode, isErrorCode, MutiraoError } from '@mutirao/api/errors';
import { clip, limits } from '@mutirao/api/limits';
import { ReservationServiceClient, ReservationStatus, type Reservation } from '@mutirao/api/reservation';
import { isSameWindow, type Provisioning, type ReservedWindow } from '@mutirao/core/messages';
import type { Duration, Instant, ProcessorCount, UserId } from '@mutirao/core/shared';
import { verifyClaim, type SignedClaim } from '../claims/index.ts';
import type { TrustSource } from '../identity/index.ts';
import type { Logger } from '../log/index.ts';
import { wholeList } from '../clients/every-page.ts';
import { callUnary, dial, listMessages } from '../rpc/index.ts';
import { ClaimKeys } from './claim-keys.ts';

/** Whose reservations the manager of a resource honours. */
export interface ReservationClientOptions {
  /** Of the reservation manager. */
  readonly address: string;
  /** What the resource is called there. */
  readonly resourceId: string;
  /** The resource's, with which it is made known there. */
  readonly processors: ProcessorCount;
  readonly token: () => string;
  readonly trust?: TrustSource;
  /** Where the manager's keys are kept. */
  readonly keysPath: string;
  /** Whether to report holds, which may lapse, as well. Default: true. */
  readonly reportsHolds?: boolean;
  /** The kind of user that the manager records for a claimed reservation. Default: `cluster`. */
  readonly kind?: string;
  readonly log: Logger;
  now(): Instant;
  /** Speaks to the manager; dials its address when left out. */
  readonly connect?: () => ReservationServiceClient;
  /** Waits for this many milliseconds or until `signal` aborts. Default: the system's clock. */
  readonly sleep?: (delay: Duration, signal: AbortSignal) => Promise<void>;
  /**
   * Everything that runs inside reservations now, one entry each, to report uses that the manager does not know of.
   * Default: nothing.
   */
  readonly inUse?: () => Iterable<ReservationUse>;
  /** Receives all reservations of the resource that are not over, whenever one of them changes. */
  onReported(windows: readonly ReservedWindow[]): void;
}

/** That something runs inside a reservation. */
export interface ReservationUse {
  readonly reservationId: number;
  /** Whose it is. */
  readonly userId: UserId;
}

const rewatchMs = 1000;
const deadlineMs = 3000;
const pageSize = 1000;
const firm: readonly ReservationStatus[] = [ReservationStatus.CONFIRMED, ReservationStatus.CLAIMED];
/** What a manager says of a claim that is good, but not yet. */
const earlyCode = 'MUT_CLAIM_EARLY';
/** What a manager says of a claim that was good before the reservation moved or was renegotiated. */
const supersededCode = 'MUT_CLAIM_SUPERSEDED';

/**
 * Follows the reservations of one resource, and verifies the claims that are shown for them.
 *
 * While the manager is away its last report stands, and a claim is good by its signature and its dates.
 */
export class ReservationClient {
  readonly #options: ReservationClientOptions;
  readonly #client: ReservationServiceClient;
  readonly #keys: ClaimKeys;
  readonly #over = new AbortController();
  readonly #sleep: NonNullable<ReservationClientOptions['sleep']>;
  /** Those that are not over, by number. */
  readonly #windows = new Map<number, ReservedWindow>();
  /** Those of them that the manager believes to be unused; none that is only held. */
  readonly #unused = new Set<number>();
  /** Claims that were shown in this life, by reservation. */
  readonly #claims = new Map<number, string>();
  /** Reservations whose use is being reported. */
  readonly #reporting = new Set<number>();
  /** Provisioning status that is not reported yet, by reservation. */
  readonly #aheads = new Map<number, Provisioning>();
  #reportingAhead: Promise<void> | undefined;
  /** The reservation states to follow. */
  readonly #living: readonly ReservationStatus[];
  #following: Promise<void> | undefined;

  constructor(options: ReservationClientOptions) {
    this.#options = options;
    this.#living = options.reportsHolds === false ? firm : [ReservationStatus.HELD, ...firm];
    this.#keys = new ClaimKeys(options.keysPath);
    this.#client =
      options.connect?.() ??
      dial(ReservationServiceClient, options.address, { token: options.token, trust: options.trust });
    this.#sleep = options.sleep ?? ((delay, signal) => pause(delay, undefined, { signal }));
  }

  /** Begins to follow, and goes on until `stop`. */
  start(): void {
    this.#following = this.#follow();
  }

  /** Stops following; resolves when nothing arrives any more. */
  async stop(): Promise<void> {
    this.#over.abort();
    await Promise.all([this.#following, this.#reportingAhead]);
    this.#client.close();
  }

  /**
   * The reservation that a claim is good for, as it is now: it may have moved since the claim was made. It may be shown
   * before it begins.
   *
   * @throws {MutiraoError} MUT_CLAIM_FORGED, MUT_CLAIM_ELSEWHERE, MUT_CLAIM_NOT_YOURS or MUT_CLAIM_LATE by what it
   * says, or what the manager says of it; MUT_UNREACHABLE while the manager's keys are not known.
   */
  async admit(claim: string, userId: UserId): Promise<ReservedWindow> {
    if (this.#keys.size === 0) await this.#learnKeys();
    const successor = await this.#ask(claim, userId, true);
    const present = successor ?? claim;
    if (successor !== undefined) await this.#ask(successor, userId, false);
    const { reservationId, amount, startsAt, endsAt } = this.#read(present, userId);
    this.#claims.set(reservationId, present);
    return { reservationId, userId, count: amount, startsAt, endsAt };
  }

  /** What a claim says. @throws {MutiraoError} where that is not for here, now and this user. */
  #read(claim: string, userId: UserId): SignedClaim {
    const signed = this.#readSigned(claim, userId);
    this.#checkTime(signed.reservationId, signed.endsAt);
    return signed;
  }

  /** @throws {MutiraoError} where nobody signed it, or it is not for here and this user. */
  #readSigned(claim: string, userId: UserId): SignedClaim {
    const signed = verifyClaim(claim, this.#keys.find);
    if (signed === undefined)
      throw new MutiraoError(
        'MUT_CLAIM_FORGED',
        `the claim is not signed by the reservation manager at ${this.#options.address}; expected it as "mutirao ` +
          'reservation show" prints it',
      );
    this.#checkSaid(signed, userId);
    return signed;
  }

  /**
   * Asks the manager about a claim. Returns the claim that took its place where the reservation has moved since.
   * @throws {MutiraoError} where it is refused.
   */
  async #ask(claim: string, userId: UserId, mayFollow: boolean): Promise<string | undefined> {
    const { resourceId, log } = this.#options;
    // What moved since it was signed may be later than it says, as long as the manager says so.
    const { reservationId, endsAt } = this.#readSigned(claim, userId);
    if (!mayFollow) this.#checkTime(reservationId, endsAt);
    try {
      const { valid, code, message, presentClaim } = await callUnary(
        this.#client,
        'verifyReservation',
        { claim, resourceId, userId },
        { deadlineMs, signal: this.#over.signal },
      );
      if (mayFollow && code === supersededCode && presentClaim !== '') return presentClaim;
      if (!valid && code !== earlyCode) throw errorOfCode(isErrorCode(code) ? code : 'MUT_PROTOCOL', clip(message));
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      this.#checkTime(reservationId, endsAt);
      log.warn(
        { reservation: reservationId, user: userId, reason: error.message },
        'the reservation manager does not answer; accepting the claim because of its signature',
      );
    }
    return undefined;
  }

  /**
   * Reports to the manager that a reservation is in use, later if it does not answer. The number suffices, since this
   * client's user manages the resource. A claim shown in this life helps with a manager to which another user announced
   * the resource.
   */
  noteUse(use: ReservationUse): void {
    const { reservationId } = use;
    const isKnown = this.#windows.has(reservationId) && !this.#unused.has(reservationId);
    if (isKnown || this.#reporting.has(reservationId)) return;
    this.#reporting.add(reservationId);
    void this.#reportUse(use).finally(() => {
      this.#reporting.delete(reservationId);
      this.#claims.delete(reservationId);
    });
  }

  /** A site that knows whole seconds may begin a little before the start. */
  async #reportUse({ reservationId, userId }: ReservationUse): Promise<void> {
    const { resourceId, kind, log } = this.#options;
    const { signal } = this.#over;
    let claim = this.#claims.get(reservationId) ?? '';
    while (!signal.aborted) {
      try {
        await callUnary(
          this.#client,
          'claimReservation',
          { claim, resourceId, userId, clientRequestId: `${kind ?? 'cluster'} ${resourceId}`, reservationId },
          { deadlineMs, signal },
        );
        return;
      } catch (error) {
        // It may have moved between the showing of its claim and its use.
        const successor = isSuperseded(error) ? await this.#ask(claim, userId, true).catch(() => undefined) : undefined;
        if (successor === undefined && !isPassing(error)) {
          log.warn(
            { reservation: reservationId, err: error },
            'cannot report to the reservation manager that a reservation is in use',
          );
          return;
        }
        claim = successor ?? claim;
      }
      await this.#sleep(rewatchMs, signal).catch(() => undefined);
    }
  }

  /**
   * Reports the provisioning status of a reservation to the manager, later if it does not answer. Only the latest
   * status is sent.
   */
  noteProvisioning(reservationId: number, ahead: Provisioning): void {
    this.#aheads.set(reservationId, ahead);
    this.#reportingAhead ??= this.#reportProvisionings().finally(() => {
      this.#reportingAhead = undefined;
    });
  }

  async #reportProvisionings(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#over;
    for (let [next] = this.#aheads; next !== undefined && !signal.aborted; [next] = this.#aheads) {
      const [reservationId, ahead] = next;
      try {
        await callUnary(
          this.#client,
          'reportProvisioning',
          { reservationId, provisioning: encodeProvisioning(ahead) },
          { deadlineMs, signal },
        );
        if (this.#aheads.get(reservationId) === ahead) this.#aheads.delete(reservationId);
      } catch (error) {
        if (isPassing(error)) await this.#sleep(rewatchMs, signal).catch(() => undefined);
        else {
          if (!signal.aborted)
            log.warn(
              { reservation: reservationId, err: error },
              'cannot report pre-acquired allocations to the reservation manager',
            );
          this.#aheads.delete(reservationId);
        }
      }
    }
  }

  #checkSaid({ resourceId, userId }: SignedClaim, shownBy: UserId): void {
    const { resourceId: here } = this.#options;
    if (resourceId !== here)
      throw new MutiraoError('MUT_CLAIM_ELSEWHERE', `the claim is for ${resourceId} and was shown at ${here}`);
    if (userId !== shownBy)
      throw new MutiraoError('MUT_CLAIM_NOT_YOURS', `the claim is ${userId}'s and was shown by ${shownBy}`);
  }

  #checkTime(reservationId: number, endsAt: Instant): void {
    if (endsAt <= this.#options.now())
      throw new MutiraoError(
        'MUT_CLAIM_LATE',
        `reservation ${reservationId} ended at ${new Date(endsAt).toISOString()}`,
      );
  }

  async #follow(): Promise<void> {
    const { log, address } = this.#options;
    const { signal } = this.#over;
    let isAway = false;
    while (!signal.aborted) {
      try {
        await this.#learnKeys();
        await this.#makeKnown();
        await this.#watch(() => {
          isAway = false;
        });
      } catch (error) {
        if (!isAway && !signal.aborted)
          log.warn(
            { address, err: error },
            'the reservation manager is unreachable; keeping its last known reservations',
          );
        isAway = true;
      }
      await this.#sleep(rewatchMs, signal).catch(() => undefined);
    }
  }

  async #learnKeys(): Promise<void> {
    this.#keys.pin(
      decodeClaimKeys(await callUnary(this.#client, 'getClaimKeys', {}, { deadlineMs, signal: this.#over.signal })),
    );
  }

  /** A resource that is there already is left as its owner has set it. */
  async #makeKnown(): Promise<void> {
    const { resourceId, processors, log } = this.#options;
    const { resources } = await wholeList('resources', (place) =>
      callUnary(this.#client, 'listResources', place, { deadlineMs, signal: this.#over.signal }),
    );
    const known = resources.find((resource) => resource.resourceId === resourceId);
    if (known !== undefined && known.total > processors)
      log.warn(
        { resource: resourceId, reservable: known.total, processors },
        'more processors can be reserved than the resource has',
      );
    if (known !== undefined) return;
    await callUnary(
      this.#client,
      'registerResource',
      { resourceId, resourceType: 'processors', quantity: String(processors), rules: undefined },
      { deadlineMs, signal: this.#over.signal },
    );
  }

  /**
   * Reads the list after the stream has begun, so that nothing is missed between them; repeats from the stream change
   * nothing.
   */
  async #watch(onCaughtUp: () => void): Promise<void> {
    const call = this.#client.watchReservations({ afterSequence: 0, reservationId: 0, onlyNew: true });
    const cancel = (): void => {
      call.cancel();
    };
    this.#over.signal.addEventListener('abort', cancel, { once: true });
    try {
      for await (const { events } of listMessages(call)) {
        if (events.length === 0) {
          await this.#list();
          onCaughtUp();
        }
        const reported = events
          .map(({ reservation }) => reservation)
          .filter((reservation) => reservation?.resourceId === this.#options.resourceId);
        let hasNews = events.length === 0;
        for (const reservation of reported) if (reservation !== undefined) hasNews = this.#note(reservation) || hasNews;
        if (events.length > 0 && reported.length === 0) continue;
        // Each report repeats all windows. News that change no window, such as a claim, are not worth one.
        if (hasNews) this.#options.onReported([...this.#windows.values()]);
        this.#reportUses(
          events.length === 0 ? this.#unused : new Set(reported.map((reservation) => reservation?.reservationId ?? 0)),
        );
      }
    } finally {
      this.#over.signal.removeEventListener('abort', cancel);
    }
  }

  /**
   * The uses are a level: the manager receives them after each absence of either side, and when it takes a reservation
   * in use for an unused one.
   */
  #reportUses(among: ReadonlySet<number>): void {
    for (const use of this.#options.inUse?.() ?? [])
      if (among.has(use.reservationId) && this.#unused.has(use.reservationId)) this.noteUse(use);
  }

  /**
   * A list replaces what was known once all of it has come: a manager that breaks off, or lists impossible
   * reservations, changes nothing. @throws {MutiraoError}
   */
  async #list(): Promise<void> {
    const listed = new Map<number, Reservation>();
    let before = 0;
    do {
      const page = await callUnary(
        this.#client,
        'listReservations',
        {
          pageSize,
          beforeReservationId: before,
          resourceId: this.#options.resourceId,
          statuses: [...this.#living],
          fromUnixMs: 0,
          untilUnixMs: 0,
          allUsers: true,
        },
        { deadlineMs, signal: this.#over.signal },
      );
      for (const reservation of page.reservations) {
        decodeReservedWindow(reservation);
        listed.set(reservation.reservationId, reservation);
      }
      const next = page.nextBeforeReservationId;
      if (next > 0 && before > 0 && next >= before)
        throw badRequest(
          `the page before reservation ${before} leads to one before ${next}; expected a smaller number`,
        );
      before = next;
    } while (before > 0 && listed.size <= limits.reservations.max);
    if (listed.size > limits.reservations.max)
      throw badRequest(`more than ${limits.reservations.max} reservations are listed`);
    this.#windows.clear();
    this.#unused.clear();
    for (const reservation of listed.values()) this.#note(reservation);
  }

  /** Whether a window is another than before. */
  #note(reservation: Reservation): boolean {
    const window = decodeReservedWindow(reservation);
    const { reservationId, endsAt } = window;
    const { status } = reservation;
    if (status === ReservationStatus.CONFIRMED) this.#unused.add(reservationId);
    else this.#unused.delete(reservationId);
    if (!this.#living.includes(status) || endsAt <= this.#options.now()) return this.#windows.delete(reservationId);
    if (isSameWindow(this.#windows.get(reservationId), window)) return false;
    if (this.#windows.size >= limits.reservations.max && !this.#windows.has(reservationId))
      throw badRequest(`more than ${limits.reservations.max} reservations were announced`);
    this.#windows.set(reservationId, window);
    return true;
  }
}

function isUnanswered(error: unknown): error is MutiraoError {
  return error instanceof MutiraoError && (error.code === 'MUT_UNREACHABLE' || error.code === 'MUT_DEADLINE_EXCEEDED');
}

function isPassing(error: unknown): boolean {
  return error instanceof MutiraoError && error.retryable;
}

function isSuperseded(error: unknown): boolean {
  return error instanceof MutiraoError && error.code === supersededCode;
}
