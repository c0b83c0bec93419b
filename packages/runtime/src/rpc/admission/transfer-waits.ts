import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import type { Bytes, Duration, Instant } from '@mutirao/core/shared';
import { transferBytesPerSecond, type TransferDirection } from '@mutirao/api/limits';

/** A call that brings or takes the bytes of a content. */
interface Transfer<Call> {
  readonly call: Call;
  readonly stream: ServerHttp2Stream;
  readonly direction: TransferDirection;
  /** How long it has waited for its other side, less what that has earned since. */
  waited: Duration;
}

/** How the other side of a connection keeps up with the transfers of one direction. */
interface Flow {
  /** Transfers, and the bytes of theirs that wait to be taken, at the last look. */
  transfers: number;
  waiting: Bytes;
  /** Bytes that had moved over the connection, at the last look. */
  moved: Bytes;
  /** How long what moved since would have lasted at the least rate, less the time that has passed. */
  earned: Duration;
  /** Of the time since the look before, the part for which enough has moved. */
  moving: Duration;
}

type Flows = Record<TransferDirection, Flow | undefined>;

/** A look that comes later than this was held up by this process, or by its host. */
const lookMax: Duration = 2_000;

/**
 * Follows how long transfers wait for their other side.
 *
 * A sender earns time with each byte, and a receiver all of it with each message that it takes. So one that sends a
 * byte now and then is given up as well as a silent one. Time in which this side does not read counts for nobody.
 *
 * A message is large, and several transfers share a connection: one of them may move little although the other side is
 * always at work. So while a connection moves the least rate in all, there is time for all that moves on it.
 */
export class TransferWaits<Call> {
  readonly #waitMax: Duration;
  readonly #transfers = new Set<Transfer<Call>>();
  readonly #flows = new WeakMap<Http2Session, Flows>();
  #lookedAt: Instant | undefined;

  constructor(waitMax: Duration) {
    this.#waitMax = waitMax;
  }

  /** Follows a call until its bytes have come, or it is over. */
  follow(call: Call, stream: ServerHttp2Stream, direction: TransferDirection): void {
    const transfer: Transfer<Call> = { call, stream, direction, waited: 0 };
    this.#transfers.add(transfer);
    const forget = (): void => {
      this.#transfers.delete(transfer);
    };
    stream.once('close', forget);
    if (direction === 'in') {
      stream.once('end', forget);
      stream.on('data', (chunk: Buffer) => {
        transfer.waited = Math.max(0, transfer.waited - (chunk.length / transferBytesPerSecond) * 1000);
      });
    } else {
      stream.on('drain', () => {
        transfer.waited = 0;
      });
    }
  }

  /** Calls whose other side has been waited for too long; they are no longer followed. */
  takeSlow(now: Instant): Call[] {
    const passed = Math.min(now - (this.#lookedAt ?? now), lookMax);
    this.#lookedAt = now;
    this.#lookAtFlows(passed);
    const slow: Call[] = [];
    for (const transfer of this.#transfers) {
      if (isWaiting(transfer)) transfer.waited += this.#countWait(transfer, passed);
      else if (transfer.direction === 'out') transfer.waited = 0;
      if (transfer.waited <= this.#waitMax) continue;
      this.#transfers.delete(transfer);
      slow.push(transfer.call);
    }
    return slow;
  }

  #lookAtFlows(passed: Duration): void {
    const seen = new Set<Flow>();
    for (const { stream, direction } of this.#transfers) {
      const { session } = stream;
      if (session === undefined || session.destroyed) continue;
      const flow = this.#flowOf(session, direction);
      if (!seen.has(flow)) advance(flow, { passed, moved: bytesOf(session, direction), waitMax: this.#waitMax });
      seen.add(flow);
      flow.transfers += 1;
      flow.waiting += stream.writableLength;
    }
  }

  #flowOf(session: Http2Session, direction: TransferDirection): Flow {
    const flows = this.#flows.get(session) ?? { in: undefined, out: undefined };
    this.#flows.set(session, flows);
    const moved = bytesOf(session, direction);
    return (flows[direction] ??= { transfers: 0, waiting: 0, moved, earned: 0, moving: 0 });
  }

  /** Of time that passed, what counts for a transfer. */
  #countWait({ direction, stream: { session } }: Transfer<Call>, passed: Duration): Duration {
    const flow = session === undefined ? undefined : this.#flows.get(session)?.[direction];
    if (flow === undefined) return passed;
    // A sender earns by what it sends itself; of a receiver only whole messages are seen.
    const timeForAll = (flow.waiting / transferBytesPerSecond) * 1000;
    const share = direction === 'in' ? 1 / flow.transfers : this.#waitMax / (this.#waitMax + timeForAll);
    return passed - flow.moving + flow.moving * share;
  }
}

/** Sees what has moved since the last look; its transfers are counted again. */
function advance(
  flow: Flow,
  { passed, moved, waitMax }: { readonly passed: Duration; readonly moved: Bytes; readonly waitMax: Duration },
): void {
  const earned = flow.earned + (Math.max(0, moved - flow.moved) / transferBytesPerSecond) * 1000;
  flow.moving = Math.min(passed, earned);
  flow.earned = Math.min(earned - flow.moving, waitMax);
  flow.moved = moved;
  flow.transfers = 0;
  flow.waiting = 0;
}

function bytesOf({ socket }: Http2Session, direction: TransferDirection): Bytes {
  return direction === 'in' ? socket.bytesRead : socket.bytesWritten;
}

function isWaiting({ stream, direction }: Transfer<unknown>): boolean {
  return direction === 'in' ? !stream.isPaused() : stream.writableLength > 0;
}
