import { MutiraoError } from '@mutirao/api/errors';
import {
  describeError,
  type Bytes,
  type Duration,
  type MachineId,
  type RequestId,
  type UserId,
} from '@mutirao/core/shared';
import type { Timers } from '@mutirao/runtime/driver';
import type { InFlightBytes } from '@mutirao/runtime/memory';
import type { StreamWriter } from '@mutirao/runtime/rpc';

/** Who one half of a transfer is. */
export type Party =
  | { readonly kind: 'machine'; readonly machineId: MachineId }
  /** A broker of this user. */
  | { readonly kind: 'user'; readonly userId: UserId }
  /** The provider itself, for its store. */
  | { readonly kind: 'site' };

/** One half of a transfer, and the test of the other. Knowing the id opens no transfer: others may have seen it. */
interface Membership {
  readonly party: Party;
  /** Whether the transfer was meant for, or comes from, that other half. */
  admits(other: Party): boolean;
}

/** The half of a transfer that brings the bytes. */
export interface Giver extends Membership {
  readonly chunks: AsyncIterable<Buffer>;
  /** Receives, before the chunks are read, how many bytes of the content's beginning to leave out. */
  onTaken?(offset: Bytes): void;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
  /** The request whose agent it is; empty for another side. */
  readonly requestId: RequestId;
}

/** The half of a transfer that takes the bytes. */
export interface Taker extends Membership {
  readonly writer: StreamWriter<Buffer>;
  /** Bytes of the content's beginning that it has already; none where left out. */
  readonly offset?: Bytes;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
  /** The request whose agent it is; empty for another side. */
  readonly requestId: RequestId;
  /** Its giver was there before it was announced: without one there is nothing to wait for. */
  readonly needsGiver?: boolean;
}

interface Half extends Membership {
  readonly role: 'giver' | 'taker';
  readonly signal: AbortSignal;
  readonly requestId: RequestId;
  readonly resolve: () => void;
  readonly reject: (error: MutiraoError) => void;
}

/** Transfers that are remembered because nobody takes them. */
const declinedMax = 1000;

interface Transfer {
  giver: (Half & Giver) | undefined;
  taker: (Half & Taker) | undefined;
  timer: unknown;
  hasStarted: boolean;
}

/** What an exchange needs. */
export interface TransferExchangeOptions {
  readonly timers: Timers;
  /** How long a half waits for the other. */
  readonly waitMax: Duration;
  /** Most transfers that are open at once. */
  readonly transfersMax: number;
  /** Counts the bytes that have passed. */
  readonly passing: Pick<InFlightBytes, 'note'>;
}

/**
 * Joins the two halves of each transfer, whichever comes first, and passes the bytes through: a chunk is read from the
 * giver only when the taker has room, and nothing is stored.
 */
export class TransferExchange {
  readonly #options: TransferExchangeOptions;
  readonly #transfers = new Map<string, Transfer>();
  /** Transfers that nobody takes and whose giver has not come yet, the latest ones. */
  readonly #declined = new Set<string>();
  #byteCount = 0;

  constructor(options: TransferExchangeOptions) {
    this.#options = options;
  }

  /** Transfers that wait or run. */
  get openCount(): number {
    return this.#transfers.size;
  }

  /** Bytes that were passed through since the start, framing included. */
  get byteCount(): number {
    return this.#byteCount;
  }

  /**
   * Brings a content; resolves when the taker has taken the last chunk.
   *
   * @throws {MutiraoError} MUT_TRANSFER_FAILED when the taker does not come in time or fails, or there is a giver
   * already; at once when it was declined.
   */
  give(transferId: string, giver: Giver): Promise<void> {
    if (this.#declined.delete(transferId)) return Promise.reject(failed(transferId, 'nobody takes it'));
    return this.#meet(transferId, 'giver', giver, (transfer, half) => {
      transfer.giver = { ...giver, ...half };
    });
  }

  /**
   * Takes a content; resolves when the last chunk is written.
   *
   * @throws {MutiraoError} MUT_TRANSFER_FAILED when the giver does not come in time or fails, or there is a taker
   * already;
   * MUT_CONTENT_NOT_FOUND at once when the taker needs a giver and none is connected.
   */
  take(transferId: string, taker: Taker): Promise<void> {
    if (taker.needsGiver === true && this.#transfers.get(transferId)?.giver === undefined) {
      return Promise.reject(unknownTransfer(transferId));
    }
    return this.#meet(transferId, 'taker', taker, (transfer, half) => {
      transfer.taker = { ...taker, ...half };
    });
  }

  /**
   * Nobody takes a transfer that was offered: its giver need not wait, whether it is here or still to come. One that
   * has a taker goes on.
   */
  decline(transferId: string): void {
    const transfer = this.#transfers.get(transferId);
    if (transfer?.taker !== undefined) return;
    if (transfer !== undefined) this.#fail(transferId, failed(transferId, 'nobody takes it'));
    else this.#noteDeclined(transferId);
  }

  /**
   * Passes a taker's reason for not taking a transfer on to the giver. Does nothing for a transfer that is not meant
   * for this party, or has a taker.
   */
  refuse(transferId: string, party: Party, error: MutiraoError): void {
    const transfer = this.#transfers.get(transferId);
    if (transfer?.giver?.admits(party) === true && transfer.taker === undefined) this.#fail(transferId, error);
  }

  #noteDeclined(transferId: string): void {
    this.#declined.add(transferId);
    const [oldest] = this.#declined;
    if (this.#declined.size > declinedMax && oldest !== undefined) this.#declined.delete(oldest);
  }

  /** Fails all transfers of a request's agents. */
  failRequest(requestId: RequestId, error: MutiraoError): void {
    if (requestId === '') return;
    for (const [transferId, { giver, taker }] of [...this.#transfers]) {
      if (giver?.requestId === requestId || taker?.requestId === requestId) this.#fail(transferId, error);
    }
  }

  #meet(
    transferId: string,
    role: Half['role'],
    one: Pick<Half, 'signal' | 'requestId' | 'party' | 'admits'>,
    place: (transfer: Transfer, half: Half) => void,
  ): Promise<void> {
    const { signal, requestId, party } = one;
    const known = this.#transfers.get(transferId);
    const refusal = this.#findRefusal(transferId, role, { known, one });
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise<void>((resolve, reject) => {
      const transfer = known ?? this.#open(transferId);
      place(transfer, { role, signal, requestId, party, admits: (other) => one.admits(other), resolve, reject });
      // Another transfer may go by the same name by then.
      const onGone = (): void => {
        if (this.#transfers.get(transferId) !== transfer) return;
        if (role === 'taker' && transfer.giver === undefined) this.#noteDeclined(transferId);
        this.#fail(transferId, failed(transferId, `its ${role} is gone`));
      };
      if (signal.aborted) onGone();
      else signal.addEventListener('abort', onGone, { once: true });
      if (transfer.giver !== undefined && transfer.taker !== undefined)
        void this.#pass(transferId, transfer, transfer.giver, transfer.taker);
    });
  }

  #findRefusal(
    transferId: string,
    role: Half['role'],
    { known, one }: { readonly known: Transfer | undefined; readonly one: Membership },
  ): MutiraoError | undefined {
    const { transfersMax } = this.#options;
    if (transferId === '') return new MutiraoError('MUT_BAD_REQUEST', 'transfer_id is empty');
    // A party that the transfer does not belong to must not learn that it exists.
    if (!isMeantFor(known, role, one)) return unknownTransfer(transferId);
    if (known?.[role] !== undefined) return failed(transferId, `it has a ${role} already`);
    if (known === undefined && this.#transfers.size >= transfersMax)
      return new MutiraoError('MUT_OVERLOADED', `${transfersMax} transfers are open`);
    return undefined;
  }

  #open(transferId: string): Transfer {
    const { timers, waitMax } = this.#options;
    const timer = timers.start(waitMax, () => {
      this.#fail(transferId, failed(transferId, `its other side did not come within ${waitMax} ms`));
    });
    const transfer: Transfer = { giver: undefined, taker: undefined, timer, hasStarted: false };
    this.#transfers.set(transferId, transfer);
    return transfer;
  }

  async #pass(transferId: string, transfer: Transfer, giver: Half & Giver, taker: Half & Taker): Promise<void> {
    this.#options.timers.cancel(transfer.timer);
    transfer.hasStarted = true;
    try {
      giver.onTaken?.(taker.offset ?? 0);
      for await (const chunk of giver.chunks) {
        if (this.#transfers.get(transferId) !== transfer) return; // Failed meanwhile; both sides know.
        taker.writer.write(chunk);
        await taker.writer.drained();
        this.#byteCount += chunk.length;
        this.#options.passing.note(chunk.length);
      }
    } catch (error) {
      this.#fail(transferId, failed(transferId, describeError(error), error));
      return;
    }
    if (this.#transfers.get(transferId) !== transfer) return;
    this.#transfers.delete(transferId);
    taker.resolve();
    giver.resolve();
  }

  #fail(transferId: string, error: MutiraoError): void {
    const transfer = this.#transfers.get(transferId);
    if (transfer === undefined) return;
    this.#transfers.delete(transferId);
    this.#options.timers.cancel(transfer.timer);
    transfer.giver?.reject(error);
    transfer.taker?.reject(error);
  }
}

/** Whether a half may join what is known of a transfer. */
function isMeantFor(known: Transfer | undefined, role: Half['role'], one: Membership): boolean {
  const other = role === 'giver' ? known?.taker : known?.giver;
  if (other === undefined) return true;
  return other.admits(one.party) && one.admits(other.party);
}

/** Said of a transfer that does not exist, and of one that belongs to others. */
export function unknownTransfer(transferId: string): MutiraoError {
  return new MutiraoError('MUT_CONTENT_NOT_FOUND', `transfer ${transferId}: nobody brings it, or not any more`);
}

function failed(transferId: string, reason: string, cause?: unknown): MutiraoError {
  return new MutiraoError(
    'MUT_TRANSFER_FAILED',
    `transfer ${transferId}: ${reason}`,
    cause === undefined ? undefined : { cause },
  );
}
