import type { ServerWritableStream, ClientWritableStream, ServerDuplexStream, ClientDuplexStream } from '@grpc/grpc-js';
import { MutiraoError } from '@mutirao/api/errors';
import type { StreamWriter } from './streams.ts';

/** Messages that may wait for a peer before its stream is closed. */
export const messagesWaitingMax = 16_384;

/** A call of grpc-js that can be written to. */
export type WritableCall<Out> =
  | ServerWritableStream<unknown, Out>
  | ServerDuplexStream<unknown, Out>
  | ClientWritableStream<Out>
  | ClientDuplexStream<Out, unknown>;

/** How one side of a call ends it. */
export interface CallEnding {
  abort(error: MutiraoError): void;
  /** Whether the call is over when this side has said all: so it is on a server, not on a client. */
  readonly closesAtEnd: boolean;
}

interface DrainedWaiter {
  readonly resolve: () => void;
  readonly reject: (error: MutiraoError) => void;
}

/** The sending side of a call, on a server or a client. */
export class CallWriter<Out> implements StreamWriter<Out> {
  onDrain: (() => void) | undefined;
  /** Called once at the end of the stream, before its listener. */
  onOver: ((error: MutiraoError | undefined) => void) | undefined;
  readonly #call: WritableCall<Out>;
  readonly #ending: CallEnding;
  readonly #waiters: DrainedWaiter[] = [];
  #isClosed = false;
  #hasEnded = false;
  #error: MutiraoError | undefined;

  constructor(call: WritableCall<Out>, ending: CallEnding) {
    this.#call = call;
    this.#ending = ending;
    call.on('drain', () => {
      this.onDrain?.();
      for (const { resolve } of this.#waiters.splice(0)) resolve();
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What ended the stream; undefined while it is open and after a peaceful end. */
  get error(): MutiraoError | undefined {
    return this.#error;
  }

  write(message: Out): boolean {
    if (this.#isClosed || this.#hasEnded) return true;
    const hasRoom = this.#call.write(message);
    if (!hasRoom && this.#call.writableLength > messagesWaitingMax) {
      this.close(
        new MutiraoError(
          'MUT_PEER_TOO_SLOW',
          `${this.#call.writableLength} messages wait; expected at most ${messagesWaitingMax}`,
        ),
      );
    }
    return hasRoom;
  }

  drained(): Promise<void> {
    if (this.#isClosed) return Promise.reject(this.#reason());
    if (!this.#call.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
    });
  }

  end(): void {
    if (this.#isClosed || this.#hasEnded) return;
    this.#hasEnded = true;
    this.#call.end();
    if (this.#ending.closesAtEnd) this.finish(undefined);
  }

  close(error?: MutiraoError): void {
    if (this.#isClosed) return;
    if (error === undefined) {
      this.end();
      this.finish(undefined);
    } else {
      this.finish(error);
      this.#ending.abort(error);
    }
  }

  /** Marks the stream as over and notifies everyone, once. */
  finish(error: MutiraoError | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#error = error;
    for (const { reject } of this.#waiters.splice(0)) reject(this.#reason());
    this.onOver?.(error);
  }

  #reason(): MutiraoError {
    return this.#error ?? new MutiraoError('MUT_CANCELLED', 'the stream is closed');
  }
}
