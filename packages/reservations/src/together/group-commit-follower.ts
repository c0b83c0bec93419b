import { MutiraoError } from '@mutirao/api/errors';
import { getDecision, type ReservationsInput, type ReservationsState } from '@mutirao/core/machines/reservations';
import type { ReservationRecord, GroupOutcome, GroupLink } from '@mutirao/core/messages';
import type { Timers } from '@mutirao/runtime/driver';
import type { Logger } from '@mutirao/runtime/log';
import { parseAddress } from '@mutirao/runtime/rpc';

/** What following prepares needs. */
export interface GroupCommitFollowerOptions {
  /** For reading. */
  readonly state: ReservationsState;
  readonly timers: Timers;
  readonly log: Logger;
  deliver(input: ReservationsInput): void;
  /** Asks another manager what became of several. @throws {MutiraoError} where it does not answer. */
  ask(asked: GroupLink, signal: AbortSignal): Promise<GroupOutcome>;
}

/** Between two times that what is open is asked about. */
const interval = 2000;

interface Preparation {
  readonly id: number;
  readonly link: GroupLink;
}

/**
 * Asks, for each prepared reservation, what became of the one with which it stands or falls, until that is decided.
 *
 * A client that confirms several by itself is faster; this is for those that died amid it.
 */
export class GroupCommitFollower {
  readonly #options: GroupCommitFollowerOptions;
  readonly #over = new AbortController();
  /** Managers that did not answer the last time. */
  readonly #away = new Set<string>();
  #timer: unknown;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: GroupCommitFollowerOptions) {
    this.#options = options;
  }

  /** Begins, and goes on until `stop`. */
  start(): void {
    this.#timer = this.#options.timers.start(interval, () => {
      this.#looking = this.#look().finally(() => {
        if (!this.#over.signal.aborted) this.start();
      });
    });
  }

  /** Resolves when nobody is asked any more. */
  async stop(): Promise<void> {
    this.#over.abort();
    this.#options.timers.cancel(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { state } = this.#options;
    const elsewhere = new Map<string, Preparation[]>();
    for (const id of state.preparedIds) {
      const reservation = state.reservations.get(id);
      const link = reservation?.together;
      if (reservation === undefined || link === undefined) continue;
      if (link.manager === '') this.#settle({ id, link }, getDecision(state, link));
      else if (this.#mayAsk(reservation, link))
        elsewhere.set(link.manager, [...(elsewhere.get(link.manager) ?? []), { id, link }]);
    }
    await Promise.all([...elsewhere].map(([manager, preparations]) => this.#askAll(manager, preparations)));
  }

  /**
   * A manager at a socket is shown the owner's token, so only the owner may name one. Over TLS our certificate is
   * shown, and no token.
   */
  #mayAsk({ place: { userId } }: ReservationRecord, { manager }: GroupLink): boolean {
    if (userId === this.#options.state.options.ownerId) return true;
    try {
      return parseAddress(manager).isTls;
    } catch {
      return false; // No address: the prepare lapses.
    }
  }

  /** One that does not answer is asked again the next time. */
  async #askAll(manager: string, preparations: readonly Preparation[]): Promise<void> {
    try {
      for (const preparation of preparations)
        this.#settle(preparation, await this.#options.ask(preparation.link, this.#over.signal));
      this.#away.delete(manager);
    } catch (error) {
      if (!(error instanceof MutiraoError)) throw error;
      if (!this.#away.has(manager) && !this.#over.signal.aborted)
        this.#options.log.warn(
          { address: manager, prepared: preparations.length, reason: error.message },
          'a reservation manager does not report the outcome of an atomic group',
        );
      this.#away.add(manager);
    }
  }

  #settle({ id, link: { groupId } }: Preparation, decision: GroupOutcome): void {
    if (decision === 'open' || decision === 'unknown') return;
    this.#options.deliver({
      kind: 'GroupDecided',
      reservationId: id,
      groupId,
      isConfirmed: decision === 'committed',
    });
  }
}
