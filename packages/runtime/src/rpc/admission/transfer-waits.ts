import type { ServerHttp2Stream } from 'node:http2';
import type { Duration, Instant } from '@mutirao/core/shared';
import { transferBytesPerSecond, type TransferDirection } from '@mutirao/api/limits';

/** A call that brings or takes the bytes of a content. */
interface Transfer<Call> {
  readonly call: Call;
  readonly stream: ServerHttp2Stream;
  readonly direction: TransferDirection;
  /** How long it has waited for its other side, less what that has earned since. */
  waited: Duration;
}

/** A look that comes later than this was held up by this process, or by its host. */
const lookMax: Duration = 2_000;

/**
 * Follows how long transfers wait for their other side.
 *
 * A sender earns time with each byte, and a receiver all of it with each message that it takes. So one that sends a
 * byte now and then is given up as well as a silent one. Time in which this side does not read counts for nobody.
 */
export class TransferWaits<Call> {
  readonly #waitMax: Duration;
  readonly #transfers = new Set<Transfer<Call>>();
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
    const slow: Call[] = [];
    for (const transfer of this.#transfers) {
      if (isWaiting(transfer)) transfer.waited += passed;
      else if (transfer.direction === 'out') transfer.waited = 0;
      if (transfer.waited <= this.#waitMax) continue;
      this.#transfers.delete(transfer);
      slow.push(transfer.call);
    }
    return slow;
  }
}

function isWaiting({ stream, direction }: Transfer<unknown>): boolean {
  return direction === 'in' ? !stream.isPaused() : stream.writableLength > 0;
}
