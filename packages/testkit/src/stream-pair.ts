import { MutiraoError } from '@mutirao/api/errors';
import type { MessageStream, StreamListener } from '@mutirao/runtime/rpc';

/** One end of a stream without a socket. Messages reach the other end in a microtask, in order; nothing is encoded. */
export class StreamEnd<In, Out> implements MessageStream<In, Out> {
  onDrain: (() => void) | undefined;
  isClosed = false;
  /** What was written here, for tests to look at. */
  readonly sent: Out[] = [];
  /** Set to let `write` answer false; `drain` ends it. */
  isBehind = false;
  #peer: StreamEnd<Out, In> | undefined;
  #listener: StreamListener<In> | undefined;
  #isPaused = false;
  #hasEnded = false;
  #isDelivering = false;
  readonly #waiting: ((listener: StreamListener<In>) => void)[] = [];

  /** Joins two ends. */
  join(peer: StreamEnd<Out, In>): void {
    this.#peer = peer;
  }

  write(message: Out): boolean {
    if (this.isClosed || this.#hasEnded) return true;
    this.sent.push(message);
    this.#peer?.take((listener) => {
      listener.onMessage(message);
    });
    return !this.isBehind;
  }

  /** As if all that waited had gone out. */
  drain(): void {
    this.isBehind = false;
    this.onDrain?.();
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#peer?.take((listener) => {
      listener.onEnd?.();
    });
  }

  listen(listener: StreamListener<In>): void {
    this.#listener = listener;
    this.#schedule();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#schedule();
  }

  close(error?: MutiraoError): void {
    if (this.isClosed) return;
    this.#finish(error);
    const peer = this.#peer;
    peer?.take(() => {
      peer.#finish(error);
    });
  }

  /** Delivers something here, after what came before it. */
  take(act: (listener: StreamListener<In>) => void): void {
    this.#waiting.push(act);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    queueMicrotask(() => {
      this.#isDelivering = false;
      while (this.#listener !== undefined && !this.#isPaused && !this.isClosed) {
        const act = this.#waiting.shift();
        if (act === undefined) return;
        this.#deliver(act, this.#listener);
      }
    });
  }

  #deliver(act: (listener: StreamListener<In>) => void, listener: StreamListener<In>): void {
    try {
      act(listener);
    } catch (error) {
      if (!(error instanceof MutiraoError)) throw error;
      this.close(error);
    }
  }

  #finish(error: MutiraoError | undefined): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#listener?.onClosed(error);
  }
}

/** Two ends of one stream: each receives what is written to the other. */
export function streamPair<A, B>(): [StreamEnd<A, B>, StreamEnd<B, A>] {
  const near = new StreamEnd<A, B>();
  const far = new StreamEnd<B, A>();
  near.join(far);
  far.join(near);
  return [near, far];
}
